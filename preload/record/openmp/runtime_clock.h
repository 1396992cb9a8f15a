// The process's OpenMP runtime in the trace, and its clock in two moments, by which ticks become nanoseconds.
#pragma once

#include "record/process/trace_writer.h"

#include <stdint.h>

namespace plumb::shim::openmp {

// Its record, written at the first call; null: no room. `call` is an address in the runtime. Thread-safe.
trace::OmpRuntime* runtime_record(const Guard&, const void* function);

void forget_runtime(); // in a forked child

// From time to time, so that the second moment is there if the process is killed. Lock-free; one load when nothing is due.
void keep_clock(uint64_t now_ticks);
void set_clock(); // now

// 0: not known yet, the first region began a moment ago.
uint64_t ticks_of_ns(uint64_t ns);
uint64_t ticks_of_ms(); // one load

void count_refused();
void count_unmatched();

} // namespace plumb::shim::openmp
