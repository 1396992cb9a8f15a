// A tick of CPU time in every thread of the process, without timers or asynchronous signals: a perf event that raises
// SIGTRAP (si_code TRAP_PERF) synchronously and only in user mode, so that no system call is ever interrupted.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

// Opens the event for the calling thread and all threads that it and they create from now on, not for forked
// children; it ends with exec. Its descriptor lies high, out of the program's way. Returns 0 or a negative error number
// (-ENOSYS also for kernels before 5.19, which kill a process that blocks SIGTRAP at a tick). Signal-safe.
int start_cpu_tick(uint64_t period_ns);

// Whether SIGTRAP came from it.
bool is_cpu_tick(const siginfo_t* info);

} // namespace plumb::shim
