// Sampled time of accesses between NUMA nodes.
#pragma once

#include "model/run.h"

#include <cstdint>
#include <map>
#include <utility>

namespace plumb {

struct Flow {
    uint64_t samples = 0;
    double seconds = 0;
};

// By (node of the CPU, node of the page).
using NodeMatrix = std::map<std::pair<int, int>, Flow>;

struct NodeTraffic {
    NodeMatrix matrix;
    double seconds = 0, remote_s = 0; // of the accesses whose nodes are known
    uint64_t samples = 0, unknown_samples = 0;

    double remote_fraction() const { return seconds > 0 ? remote_s / seconds : 0; }
};

// Of a whole run, from its epochs, which count what found no room elsewhere as well. Nodes of several hosts count
// together by number.
NodeTraffic node_traffic_of(const model::Run& run);

// Whether any of the run's hosts was watched for it: it has several nodes.
bool has_several_nodes(const model::Run& run);

} // namespace plumb
