// The loop that only waits for another thread and that a path ends in.
#pragma once

#include "model/run.h"

#include <algorithm>
#include <iterator>

namespace plumb {

// Whose code the address lies in. Null: none.
inline const model::SpinLoop* spin_loop_around(const model::Process& process, uint64_t address) {
    const auto after = std::ranges::upper_bound(process.spin_loops, address, {}, &model::SpinLoop::begin);
    if (after == process.spin_loops.begin())
        return nullptr;
    const model::SpinLoop& loop = *std::prev(after);
    return address < loop.end ? &loop : nullptr;
}

// The loop whose call of sched_yield the path ends in, be it in the kernel. `node`: index into Process::paths. Null: none.
inline const model::SpinLoop* yielding_loop_at(const model::Process& process, uint32_t node) {
    constexpr int kMostCallers = 4; // sched_yield, the stub that leads to it, functions that do no more than call it
    const std::vector<model::PathNode>& nodes = process.paths;
    if (process.spin_loops.empty())
        return nullptr;
    while (node != 0 && node < nodes.size() && nodes[node].kernel)
        node = nodes[node].parent;
    for (int callers = 0; callers < kMostCallers && node != 0 && node < nodes.size(); ++callers, node = nodes[node].parent) {
        const model::SpinLoop* loop = nodes[node].leaf ? nullptr : spin_loop_around(process, nodes[node].address);
        if (loop && loop->yield_return == nodes[node].address)
            return loop;
    }
    return nullptr;
}

// The same, and a loop in whose own code the path ends.
inline const model::SpinLoop* spin_loop_at(const model::Process& process, uint32_t node) {
    if (node == 0 || node >= process.paths.size() || process.spin_loops.empty())
        return nullptr;
    const model::PathNode& place = process.paths[node];
    const model::SpinLoop* loop = place.leaf && !place.kernel ? spin_loop_around(process, place.address) : nullptr;
    return loop ? loop : yielding_loop_at(process, node);
}

} // namespace plumb
