// A tick of CPU time in one thread: a timer of the kernel whose signal, SIGTRAP, reaches the thread at its return to user
// mode only, so that no system call is interrupted. Timers do that since Linux 5.11, where they expire in task work; before,
// the signal could come within a call that is about to block.
//
// Not a perf event of the thread: two threads that have no events but inherited ones are exchanged at a switch without
// touching these, and one event of a thread's own makes the kernel stop and start all of them (14 us a switch instead
// of less than 1, measured in a virtual machine).
//
// No descriptor stays open, which programs would find, count or close. A forked child and an executed program have none.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

struct CpuTick {
    int timer; // the kernel's number
    bool runs;
};

// A tick for the calling thread, until stop_cpu_tick() or exec. Returns 0 or a negative error number: -ENOSYS for
// earlier kernels, -EAGAIN where the process may have few signals pending (a timer holds one of them). Two
// microseconds; signal-safe.
int start_cpu_tick(uint64_t period_ns, CpuTick* tick);
void stop_cpu_tick(CpuTick* tick);

// Whether SIGTRAP came from one.
bool is_cpu_tick(const siginfo_t* info);

} // namespace plumb::shim
