// Find mode watches each thread in short windows: how long they are, when one may begin, when it is over. Exact mode has
// one window, which never ends.
//
// All but set_trap_cost() and forget_windows_of_parent() are called by handlers of signals, too: signal-safe, without locks,
// errno untouched. A WatchedThread is the calling thread's own.
#pragma once

#include "record/align/trap/watched_thread.h"

namespace plumb::shim {

// What a trap costs here: windows are shorter where it costs much. Before the first window.
void set_trap_cost(uint64_t trap_cost_ns);
uint64_t trap_cost();

// The calling thread's; it is armed from now on, or not any more.
void begin_window(WatchedThread&);
void end_window(WatchedThread&); // if one has begun

// It has seen enough.
bool window_is_over(const WatchedThread&);

// A trap was taken in a window.
void charge_windows();

// A thread that has just begun may have a window at once: all windows have cost less than 1 % of the process's CPU time. Else it
// waits for its first tick: programs that start threads by the thousand would spend more on their windows than on their work.
bool may_begin_at_thread_start();

// The process's first thread may have a window before main(). The program that `plumb run` started has one, and one in 64 of
// those that others start: scripts run thousands of programs that last a millisecond, of which a window takes a good part.
// The others wait for their first tick, as new threads do.
bool may_begin_at_process_start();

// At a tick: lets this one pass, because there was nothing to find lately, or all windows have cost too much.
bool lets_tick_pass(WatchedThread&);

// A forked child has CPU time of its own.
void forget_windows_of_parent();

} // namespace plumb::shim
