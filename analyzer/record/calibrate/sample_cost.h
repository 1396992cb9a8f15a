// What one sample costs the thread that it is taken of.
#pragma once

#include "record/run/node_trace_writer.h"

#include <linux/perf_event.h>

#include <cstdint>

namespace plumb::record {

struct SampleCost {
    uint64_t ns = 0;     // 0: could not be measured
    unsigned pairs = 0;  // of runs with and without samples: the more, the less other work on the machine matters
};

// Measured on the calling thread, with an event like `attributes` at a high rate: CPU time of the same work with and without
// it, the least of several times each, so that a busy machine matters little. Takes about 12 ms of CPU time where `most_ns`
// allows it, more where a sample costs more than 25 us.
SampleCost measure_sample_cost(const perf_event_attr& attributes, uint64_t most_ns = UINT64_MAX);

} // namespace plumb::record
