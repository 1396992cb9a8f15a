// The loop that only waits for another thread and that a path ends in.
#pragma once

#include "model/run.h"

#include <algorithm>
#include <iterator>

namespace plumb {

// `node`: index into Process::paths. Null: none, or the path ends in the kernel or at a call.
inline const model::SpinLoop* spin_loop_at(const model::Process& process, uint32_t node) {
    if (node == 0 || node >= process.paths.size() || process.spin_loops.empty())
        return nullptr;
    const model::PathNode& place = process.paths[node];
    if (place.kernel || !place.leaf)
        return nullptr;
    const auto after = std::ranges::upper_bound(process.spin_loops, place.address, {}, &model::SpinLoop::begin);
    if (after == process.spin_loops.begin())
        return nullptr;
    const model::SpinLoop& loop = *std::prev(after);
    return place.address < loop.end ? &loop : nullptr;
}

} // namespace plumb
