// The nodes that a job was given: how far apart they lie, in how many pieces, and where its messages meet those of other jobs.
#pragma once

#include "network/machine/network.h"
#include "network/job/traffic.h"

#include <optional>
#include <span>

namespace plumb::network {

class Torus;

// The smallest box (on a ring: the shortest stretch) that holds all of a job's nodes.
struct Box {
    std::vector<uint32_t> sizes; // by dimension, in places on the cable
    uint64_t nodes = 0;          // of the machine, in it
};

struct Allocation {
    uint32_t nodes = 0;  // of the job
    uint32_t places = 0; // routers or leaf switches that they are at
    uint32_t pieces = 0; // between which no neighbouring places belong to the job
    double mean_hops = 0;         // between two nodes of the job; of large jobs of a sample of them
    double compact_mean_hops = 0; // the same for as many nodes close to one another, were the whole machine free
    std::optional<Box> box;       // of a torus
};

// `nodes`: each once. A second for ten thousand nodes.
Allocation allocation_of(const Network& network, std::span<const NodeIndex> nodes);

// Of the bytes that links carry (hop_bytes()) the part on links that lead through routers or switches with no node of the job:
// there other jobs can disturb it, and it them. 0 to 1.
double shared_link_share(const Network& network, std::span<const NodeIndex> nodes, const std::vector<double>& link_bytes);

} // namespace plumb::network
