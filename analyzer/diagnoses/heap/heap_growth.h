// Lines whose memory grows as long as their process runs, and is kept.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <vector>

namespace plumb {

struct HeapGrowth {
    model::SourceFrame frame;
    double live_bytes = 0;  // when the heap was largest, or at the end
    double never_freed_bytes = 0;
    double allocated_bytes = 0, allocations = 0;
    uint64_t samples = 0;
    uint64_t first_ns = UINT64_MAX, last_ns = 0; // of its sampled allocations
    double active_s() const { return last_ns > first_ns ? static_cast<double>(last_ns - first_ns) * 1e-9 : 0; }
    bool exact = false;
    uint32_t pid = 0;
};

// Of all processes; most memory first.
std::vector<HeapGrowth> heap_growths(model::CallPaths& paths);

} // namespace plumb
