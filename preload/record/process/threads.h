// Beginning and end of a recorded thread.
#pragma once

#include "record/process/thread_state.h"

#include <plumb/trace_format.h>

namespace plumb::shim {

class Guard;

// Called once before the first thread is recorded: takes the key whose destructor sees every end of a thread
// (return, pthread_exit, cancellation).
void prepare_thread_ends();

// Makes `state` (its hand-over fields filled by the creator, or a bare one) the calling thread's and writes
// ThreadStart. The process must be recorded.
void begin_thread(ThreadState* state);

// The state is the calling thread's from now on, and is to end with it.
void end_with_thread(ThreadState* state);

// Writes ThreadEnd with the CPU time so far.
void write_thread_end(const Guard&);

// Lets the calling thread, whose ThreadEnd is written, write once more: the end of the process.
void lend_state_to_ended_thread();

// The tid of a recorded thread; 0: unknown.
uint32_t tid_of(pthread_t handle);

} // namespace plumb::shim
