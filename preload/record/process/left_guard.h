// Guards whose function was left by a jump: a signal handler of the program's interrupted recording and did not return
// (siglongjmp, setcontext, an exception, the end of the thread). Without notice of it the thread would count as recording
// for ever, and nothing of it would be recorded any more.
//
// A guard is known by the frame of the function that holds it. On one stack that frame is gone when the thread runs, or is
// about to run, further out. Other stacks (of coroutines) say nothing: what was switched away from may be switched to again.
// A thread that is asked for a thousand records while such a guard is held leaves it behind with all that belongs to it, and
// goes on with another state: whoever holds the guard may finish what it began, or never run again. So up to 15 guards of one
// thread at a time. Where this change itself is left in the middle, the next one begins after 50,000 calls more.
#pragma once

#include "record/process/thread_state.h"

namespace plumb::shim {

// The calling thread, which holds a guard, runs in the function of this frame: if that guard is gone, or is left behind now,
// the state to record with, which holds none and is fit for it. Null: the guard is in use. Signal-safe.
ThreadState* state_after_left_guard(ThreadState&, uint64_t frame);

// Before a jump of the calling thread to this stack pointer (0: not known), out of whatever it interrupted. Signal-safe.
void before_jump_to(uint64_t stack_pointer);

} // namespace plumb::shim
