// How far apart threads have to be placed so that the memory of the nodes they land on suffices: arithmetic alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace plumb {

struct SpacingNode {
    uint64_t room_bytes = 0; // that may be filled
    int cpu_count = 0;       // of the node, those that the run may not use included
};

struct Spacing {
    int cpus = 0;      // from one thread to the next; 0: no distance is enough on the CPUs there are
    size_t span = 0;   // CPUs that it takes at this distance
    std::vector<int> list; // where no distance is enough, but a choice of CPUs is: relative numbers, by thread
    bool larger_than_node = false; // one of them needs more than any node has: neighbours have to lend it
    uint64_t cpu_share_bytes = 0;  // of one CPU, on average over the nodes that the run may use
    size_t cpus_needed = 0; // of machines like this: 0 where a distance or a list is enough
};

// `needs`: bytes of each thread, in the order in which they are given CPUs. `cpu_nodes`: the node of the n-th CPU that
// the run may use, -1: not known. Thread i at distance k gets CPU k*i, as `plumb pin --spread k` places it.
Spacing spacing_for(const std::vector<uint64_t>& needs, const std::vector<int>& cpu_nodes,
                    const std::map<int, SpacingNode>& nodes);

} // namespace plumb
