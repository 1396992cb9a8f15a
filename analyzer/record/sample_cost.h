// What one sample costs the thread that it is taken of.
#pragma once

#include "record/trace_file.h"

#include <linux/perf_event.h>

#include <cstdint>

namespace plumb::record {

// Measured on the calling thread, with an event like `attributes` at a high rate: the same work with and without it,
// the least of several times each, so that a busy machine matters little. Takes about 25 ms of CPU time, more where a
// sample costs more than 25 us. 0: could not be measured. `clock`: own_cpu_ns leaves out what other processes take
// meanwhile.
uint64_t measure_sample_cost_ns(const perf_event_attr& attributes, uint64_t (*clock)() = monotonic_ns);

} // namespace plumb::record
