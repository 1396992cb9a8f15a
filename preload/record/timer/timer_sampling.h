// Time samples without perf events: each thread has a timer of its own CPU time whose signal interrupts it.
//
// Coarser than sampling from outside, and more expensive, so only where the kernel forbids that (PLUMB_TIMER_HZ is set by
// the recorder then). The signal is a real-time one that nobody used at the start; when the program wants it, sampling stops and
// the program has it. The price that stays: a blocking call that a signal hits at its begin and that the kernel
// does not restart (sleep, poll) returns EINTR; the evidence record says so.
#pragma once

#include "record/collector.h"

namespace plumb::shim {

extern const Collector timer_sampling;

// The signal in use, 0: none. One load.
int sampling_signal();

// Called in the sampling timer's handler with its context, in every thread that is sampled; signal-safe. Null: nothing.
void set_tick_listener(void (*listener)(void* context));

// The program takes the signal for itself: gives it up for good.
void yield_sampling_signal();

} // namespace plumb::shim
