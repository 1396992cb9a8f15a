// Where threads spin for others, and for how long: the same samples that the time account calls spinning.
#pragma once

#include "model/call_paths.h"

#include <cstdint>
#include <vector>

namespace plumb {

struct Spinning { // of one thread at one path
    uint32_t process = 0, thread = 0, path = 0; // indexes
    const model::SpinLoop* loop = nullptr;
    uint64_t samples = 0;
    double cpu_s = 0;
    double wall_ns = 0; // of the run's wall time as recorded, what depended on it
};

// Of all processes, in their order. Not thread-safe (`paths` remembers what it looked up).
std::vector<Spinning> spinning_of(model::CallPaths& paths);

} // namespace plumb
