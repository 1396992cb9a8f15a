#include "record/mpi/mpi_collector.h"

#include "platform/os/memory.h"
#include "platform/os/text.h"
#include "platform/unwind/unwind_table.h"
#include "record/mpi/calls/thread_calls.h"
#include "record/mpi/rank.h"
#include "record/process/launcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace plumb::shim {
namespace {

using mpi::Rank;
using mpi::rank_of_process;
using mpi::ThreadCalls;

Rank* pages = nullptr;     // stays for the life of the process image; wiped in forked children
bool has_started_mpi = false;  // also known to forked children

// What tells this job from others that write into the same run directory.
void name_job() {
    Text<sizeof mpi::launched_job.name> name;
    const JobName job = read_job_name(environ);
    if (job.job)
        name << job.job;
    if (job.step)
        name << "." << job.step;
    memcpy(mpi::launched_job.name, name.c_str(), name.length() + 1);
    const LaunchFacts facts = read_launch_facts(environ);
    mpi::launched_job.rank = facts.rank;
    mpi::launched_job.rank_count = facts.rank_count;
}

bool start(bool forked) {
    rank_of_process = nullptr;
    if (forked && has_started_mpi)
        return false; // MPI does not survive a fork
    mpi::choose_clock();
    if (!forked) {
        start_unwinding();
        name_job();
    }
    if (!pages)
        pages = static_cast<Rank*>(allocate_pages(sizeof(Rank), true));
    rank_of_process = pages;
    return pages != nullptr;
}

// A thread's own calls that are not yet in the totals.
void tell_rest() {
    const Guard guard;
    if (!guard || !rank_of_process)
        return;
    if (ThreadCalls* const thread = guard.thread().data<ThreadCalls>(ThreadSlot::mpi);
        thread && thread->tid() == guard.thread().tid)
        rank_of_process->tell(*thread, mpi::ticks());
}

void process_end() {
    tell_rest();
    const Guard guard;
    if (!guard || !rank_of_process || !rank_of_process->begun())
        return;
    const Rank& rank = *rank_of_process;
    const uint64_t sites = rank.sites.refused(), comms = rank.comms.refused(), peers = rank.peers.refused(),
                   late = rank.lock.refused();
    if (!sites && !comms && !peers && !late)
        return;
    __atomic_store_n(&rank.record.load()->dropped_sites, static_cast<uint32_t>(sites + comms + peers), __ATOMIC_RELAXED);
    Text<512> why;
    why << "there was no room for " << sites << " call sites, " << comms << " communicators and " << peers
        << " messages' peers";
    if (late)
        why << "; " << late
            << " messages were not counted, because a thread was stopped or jumped out of a signal handler during recording";
    write_evidence(guard, "mpi-details", trace::EvidenceState::limited, why.c_str(),
                   sites || comms || peers ? "a larger PLUMB_FILE_LIMIT keeps more" : "");
}

void repair_thread(ThreadState& thread) {
    if (ThreadCalls* const calls = thread.data<ThreadCalls>(ThreadSlot::mpi))
        calls->sites.repair();
    if (rank_of_process)
        rank_of_process->lock.left_by(&thread);
}

} // namespace

namespace mpi {
void note_mpi_started() { has_started_mpi = true; }
} // namespace mpi

constinit const Collector mpi_collector = {"mpi", false, start, nullptr, tell_rest, process_end, repair_thread};

} // namespace plumb::shim
