// A tick of CPU time in one thread, without timers or asynchronous signals: a perf event that raises SIGTRAP (si_code
// TRAP_PERF) synchronously and only in user mode, so that no system call is ever interrupted.
//
// No descriptor stays open, which programs would find, count or close: the event lives as long as a page that is mapped
// of it (an inherited event could not be mapped, so each thread has its own). A forked child has neither.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

// A tick for the calling thread, until the thread ends or execs. `tick` is for stop_cpu_tick(). Returns 0 or a
// negative error number (-ENOSYS also for kernels before 5.19, which kill a process that blocks SIGTRAP at a tick).
// Some ten microseconds; signal-safe.
int start_cpu_tick(uint64_t period_ns, void** tick);
void stop_cpu_tick(void* tick);

// Whether SIGTRAP came from one.
bool is_cpu_tick(const siginfo_t* info);

} // namespace plumb::shim
