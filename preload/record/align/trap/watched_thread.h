// What the alignment trap knows of one thread, and how it counts there. It survives the thread and is used again by the
// next one with the same ThreadState; a forked child finds it zeroed.
#pragma once

#include "platform/os/cpu_tick.h"
#include "platform/os/stack_memory.h"
#include "record/align/sites/site.h"
#include "record/align/sites/thread_counts.h"
#include "record/paths/call_path.h"
#include "record/process/trace_writer.h"

#include <ucontext.h>

namespace plumb::shim {

struct WatchedThread {
    trace::AlignTotals* totals; // null: this thread is not watched (any more)
    bool armed;                 // the alignment flag is set where the program runs, or will be at once
    bool ever_armed;
    bool flag_is_programs; // the program has set the flag itself: hits are its own

    // The instruction that is being stepped over by a single step.
    bool stepping;
    bool step_repeats;      // it is a string instruction with a prefix: each element is a step
    bool step_stores_flags; // it is pushf: the image on the stack has the step's own flag
    uint64_t step_address;
    uint64_t step_mask; // of signals, to be restored behind it

    // The current window of find mode.
    uint32_t window_counted, window_excluded, window_excluded_limit;
    bool window_new; // it saw an instruction that this thread had not been caught at
    uint32_t windows_of_known; // ended since one saw something new
    uint32_t idle_ticks, ticks_to_skip;
    uint64_t window_begin_ns;

    CpuTick tick; // begins windows of find mode
    uint64_t told_trap_ns; // of totals->trap_ns, already part of the shim's own cost

    StackBounds stack;
    CallPathCache paths;
    trace::AlignCount* counts[kSitesMax];
};

// The calling thread's; null: it was never watched. Signal-safe.
extern __thread WatchedThread* watched_thread __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;

// Makes the calling thread a watched one, without arming it. False: no memory, or no room in the trace.
bool watch_thread(const Guard&, trace::AlignMode mode);
void unwatch_thread();

// One hit at `site` in the thread whose state at that moment `context` is. Signal-safe.
void count_hit(WatchedThread&, Site&, const ucontext_t& context, bool exact);

// The instruction of a counted hit, at which `context` stands again, has not been executed: the program runs a signal
// handler first, and the hit will come again. Signal-safe.
void take_back_hit(WatchedThread&, Site&, const ucontext_t& context);

// Time samples in the site's slot belong to the site: written when a thread is about to use it. Signal-safe.
void record_slot(Site&);

// What the traps of the calling thread have cost since the last call.
void tell_own_cost(WatchedThread&);

// A forked child, or an image after it, records everything anew: sites that were written before are written again.
void begin_site_recording();

} // namespace plumb::shim
