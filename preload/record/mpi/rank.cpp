#include "record/mpi/rank.h"

#include "platform/os/memory.h"
#include "record/heap/heap_blocks.h"
#include "record/mpi/calls/thread_calls.h"
#include "record/mpi/tables/counters.h"
#include "record/process/settings.h"

#include <errno.h>
#include <plumb/redaction.h>
#include <string.h>

namespace plumb::shim::mpi {
namespace {

// Shares of the trace file: half of it is left to all others, and to sites and communicators.
constexpr uint32_t kCollectivesMax = 32768, kMessagesMax = 16384;
uint32_t places(uint64_t file_bytes, uint32_t thirty_seconds, uint32_t bytes_each, uint32_t most) {
    const uint64_t fitting = file_bytes / 32 * thirty_seconds / bytes_each;
    return fitting < most ? static_cast<uint32_t>(fitting) : most;
}

trace::StringId write_job(const Guard& guard) {
    const char* name = launched_job.name;
    if (!name[0])
        return 0;
    char alias[redaction::kAliasBytes];
    if (settings.text(Setting::kRedact)) {
        redaction::alias_of_job(name, strlen(name), alias);
        name = alias;
    }
    return write_string(guard, name, strlen(name));
}

} // namespace

Rank* rank_of_process = nullptr;
constinit LaunchedJob launched_job = {};

void Rank::begin(const Guard& guard) {
    uint32_t nobody = 0;
    if (!beginning_.compare_exchange_strong(nobody, 1)) {
        for (uint32_t i = 0; i < 1'000'000 && !begun(); ++i) {} // another thread is at it: some microseconds
        return;
    }
    const uint64_t timeline_bytes = settings.number(Setting::kTimeline, 0);
    const uint64_t file_bytes = record_limit_bytes() - timeline_bytes;
    timeline.set_room(timeline_bytes);
    collectives.set_limit(places(file_bytes, 10, sizeof(trace::MpiCollective), kCollectivesMax));
    messages.set_limit(places(file_bytes, 5, sizeof(trace::MpiMessage), kMessagesMax));
    library = &mpi::library();
    trace::MpiRank rank{};
    rank.library = static_cast<uint32_t>(library->kind);
    rank.rank = -1;
    rank.size = launched_job.rank_count;
    rank.job = write_job(guard);
    rank.first_ticks = rank.last_ticks = ticks();
    rank.first_ns = rank.last_ns = now_ns();
    rank.collective_stride = rank.message_stride = 1;
    last_ticks_.store(rank.first_ticks, std::memory_order_relaxed);
    trace::MpiRank* place = append(guard, trace::RecordType::MpiRank, rank);
    if (!place) {
        lost_ = rank;
        place = &lost_;
    }
    record.store(place, std::memory_order_release);
}

void Rank::tell(ThreadCalls& thread, uint64_t now_ticks) {
    trace::MpiRank* const rank = record.load(std::memory_order_relaxed);
    if (!rank)
        return;
    __atomic_fetch_add(&rank->mpi_ticks, thread.mpi_ticks, __ATOMIC_RELAXED);
    thread.mpi_ticks = 0;
    thread.calls = 0;
    if (timeline.is_kept())
        set(rank->timeline_calls, timeline.stored());
    if (now_ticks > last_ticks_.load(std::memory_order_relaxed) && is_stale(now_ticks)) {
        const uint64_t moment = ticks(), moment_ns = now_ns();
        last_ticks_.store(moment, std::memory_order_relaxed);
        set(rank->last_ticks, moment);
        set(rank->last_ns, moment_ns);
    }
    const uint64_t ticks_so_far = __atomic_load_n(&rank->last_ticks, __ATOMIC_RELAXED) - rank->first_ticks;
    if (ticks_so_far && ticks_so_far < now_ticks) { // the ratio is known
        add_own_cost(scaled(thread.own_ticks, __atomic_load_n(&rank->last_ns, __ATOMIC_RELAXED) - rank->first_ns, ticks_so_far));
        thread.own_ticks = 0;
    }
}

ThreadCalls* thread_calls() {
    if (!rank_of_process)
        return nullptr;
    const int error_of_program = errno;
    const Guard guard;
    if (!guard)
        return nullptr;
    Rank& rank = *rank_of_process;
    if (!rank.begun())
        rank.begin(guard);
    ThreadCalls*& thread = guard.thread().data<ThreadCalls>(ThreadSlot::mpi);
    if (!thread)
        thread = static_cast<ThreadCalls*>(allocate_pages(sizeof(ThreadCalls), true));
    if (thread && thread->tid() != guard.thread().tid) {
        learn_stack(guard);
        thread->begin(guard, ticks());
    }
    errno = error_of_program;
    return rank.begun() ? thread : nullptr;
}

} // namespace plumb::shim::mpi
