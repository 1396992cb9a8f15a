// Gives each thread its CPU, once, before its program code runs; what the program does with its affinity later is
// its own affair. Configured by PLUMB_PIN and related variables; without PLUMB_PIN nothing here does anything.
//
// All functions leave errno alone, take no lock and call nothing that is hooked.
#pragma once

#include "record/collector.h"

#include <pthread.h>
#include <stdint.h>

namespace plumb::shim {

// Pins the first thread at the process's start and the one thread of a forked child.
extern const Collector pin_collector;

// In a dormant process (shell, launcher): takes no position, but reserves them for the children it forks.
void pin_start_dormant();

// A thread's claim to a position, made by its creator so that positions follow the order of creation.
using PinTicket = uint32_t;

// In the creating thread. `attributes` and `caller` (return address of the create call) may be null.
PinTicket pin_claim(const pthread_attr_t* attributes, const void* start_routine, const void* caller);
void pin_abandon(PinTicket ticket);    // creation failed
void pin_begin_thread(PinTicket ticket); // in the new thread

// A thread was given a name: if it marks a helper, the thread may run anywhere in the list from now on.
void pin_thread_named(uint32_t tid, const char* name);

} // namespace plumb::shim
