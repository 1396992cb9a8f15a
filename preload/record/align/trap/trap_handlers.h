// SIGBUS and SIGTRAP while the alignment trap is at work: what happens at a hit, at the end of a single step and at a
// tick. Their state is the calling thread's (watched_thread.h) and the sites'.
#pragma once

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

// Installs the handlers; 0 or a negative error number. Once, before any thread is armed.
int install_trap_handlers();

// How windows are begun: exact mode has one that never ends.
void set_trap_mode(trace::AlignMode mode);

// Arms the calling thread; in find mode a window begins. A process or a thread that has just begun may have to wait for its
// first tick.
void arm_thread();
void arm_first_thread();
void arm_new_thread();
void disarm_thread();

// A tick of the sampling timer, in whose handler the calling thread is: what a tick of find mode's own does. `context` is
// the handler's. Signal-safe.
void begin_window_at_tick(void* context);

// From now on no thread is armed again, and those that are disarm themselves at their next hit. Signal-safe.
void stop_trapping();
bool trapping_stopped();

// Threads that no hook saw being started. Those that took the flag over from their makers lose it, and are noted, at their
// first hit. Forgotten in a forked child.
void note_thread_past_hooks();
uint32_t threads_started_past_hooks();
void forget_threads_started_past_hooks();

// Makes unaligned accesses on purpose with the flag set. The nanoseconds that one of them takes, 0: nothing trapped.
uint64_t try_trap();

} // namespace plumb::shim
