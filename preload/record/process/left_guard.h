// Guards whose function was left by a jump: a signal handler of the program's interrupted recording and did not return
// (siglongjmp, setcontext, an exception, the end of the thread). Without notice of it the thread would count as recording
// for ever, and nothing of it would be recorded any more.
//
// A guard is known by the frame of the function that holds it. On one stack that frame is gone when the thread runs, or is
// about to run, further out. Other stacks (of coroutines) say nothing: what was switched away from may be switched to again.
#pragma once

#include "record/process/thread_state.h"

namespace plumb::shim {

// Whether the thread's guard is gone now that the thread, which is the calling one, runs in the function of this frame.
// If so, the thread's data are made fit for further recording, and it holds no guard. Signal-safe.
bool end_left_guard(ThreadState&, uint64_t frame);

// Before a jump of the calling thread to this stack pointer (0: not known), out of whatever it interrupted. Signal-safe.
void before_jump_to(uint64_t stack_pointer);

} // namespace plumb::shim
