// How long one thread ran, waited for a CPU and was blocked: exact, whichever of the kernel's two accounts is the better one.
//
// The scheduler's sums (run_ns, run_delay_ns) are read from outside at intervals, so that a thread's last stretch is missing, and
// all of a thread that lives for less; but they tell waiting for a CPU after waking up from being blocked. The records of
// switches end with the thread, but may have stopped.
#pragma once

#include "model/run.h"

namespace plumb {

struct ThreadTimes {
    double run_s = 0, no_cpu_s = 0, blocked_s = 0;
    double life_s() const { return run_s + no_cpu_s + blocked_s; }
};

ThreadTimes thread_times(const model::Thread& thread);

// Whether the thread's switches are known, of all its life.
bool has_exact_switches(const model::Thread& thread);

// How many times the thread was blocked at least, to be blocked for so many seconds in one kind of wait: no fewer than if these
// were the longest ones of all. 0: its switches are not known.
uint64_t least_waits(const model::Thread& thread, double seconds);

} // namespace plumb
