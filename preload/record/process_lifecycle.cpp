#include "record/process_lifecycle.h"

#include "platform/code/alignment_flag.h"
#include "record/collector.h"
#include "record/modules.h"
#include "record/process/own_cost.h"
#include "record/process/process.h"
#include "record/process/settings.h"
#include "record/process/threads.h"
#include "record/process/trace_writer.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

namespace plumb::shim {
namespace {

constexpr uint64_t kFileLimitBytes = 8 * 1024 * 1024;
constexpr uint64_t kFullHeapFileLimitBytes = 128 * 1024 * 1024; // large programs have 100,000 allocating call paths

uint64_t file_limit() {
    const char* heap = settings.text(Setting::kHeapMode);
    const bool full = heap && strcmp(heap, "full") == 0;
    return settings.number(Setting::kFileLimit, full ? kFullHeapFileLimitBytes : kFileLimitBytes) +
           settings.number(Setting::kTimeline, 0);
}

LaunchFacts launch_facts;
std::atomic<int> quick_exit_status{0};
__thread bool armed_at_fork __attribute__((tls_model("initial-exec"))) = false;

int record(bool forked) {
    return begin_recording(settings.text(Setting::kRunDirectory),
                           file_limit(), launch_facts, forked);
}

// Registered before the loader's own finaliser, therefore called after it: after all destructors of the program
// and its libraries. Unlike a hook of exit() it also gets the value that main returned.
void end_at_exit(int status, void*) { end_process(trace::EndKind::exit, status); }

void end_at_quick_exit() {
    end_process(trace::EndKind::quick_exit, quick_exit_status.load(std::memory_order_relaxed));
}

} // namespace

int begin_process(const LaunchFacts& facts) {
    launch_facts = facts;
    prepare_thread_ends();
    if (const int error = record(false); error < 0)
        return error;
    on_exit(end_at_exit, nullptr);
    at_quick_exit(end_at_quick_exit);
    return 0;
}

void record_modules_at_start() {
    const Guard guard;
    if (guard)
        scan_modules(guard);
}

void prepare_fork() {
    const int error_of_program = errno;
    const Guard guard;
    if (guard)
        scan_modules_if_due(guard);
    errno = error_of_program;
    armed_at_fork = alignment_flag(); // fork blocks all signals for a while
    if (armed_at_fork)
        clear_alignment_flag();
}

void continue_in_parent() {
    if (armed_at_fork)
        set_alignment_flag();
}

void continue_in_child() {
    const int error_of_program = errno;
    continue_program_signals_in_child();
    const bool recorded = forget_parent() && record(true) == 0;
    if (recorded) {
        const Guard guard;
        if (guard)
            rewrite_modules(guard);
    }
    start_collectors(recorded, true);
    errno = error_of_program;
}

void end_process(trace::EndKind kind, int32_t status) {
    if (!runs_in_recorded_process())
        return;
    const OwnCost cost;
    end_collectors();
    {
        const Guard guard;
        if (guard)
            scan_modules_if_due(guard);
    }
    end_recording(kind, status);
}

void note_quick_exit_status(int status) { quick_exit_status.store(status, std::memory_order_relaxed); }

} // namespace plumb::shim
