// What the messages of a job ask of a network: over how many links they go, and what each link carries.
#pragma once

#include "network/machine/network.h"
#include "network/job/traffic.h"

#include <span>

namespace plumb::network {

struct HopBytes {
    double bytes = 0, messages = 0;
    double hop_bytes = 0;    // each message's bytes times the links that it passes; the sum of all links' bytes
    double hop_messages = 0;
    double leaving_bytes = 0; // from the node of the sender
    uint32_t most_hops = 0;   // of any two ranks that send to one another
    PairTraffic farthest;     // the two with the most bytes times links
    uint32_t farthest_hops = 0;
    std::vector<double> link_bytes; // by link; empty: not asked

    double mean_hops() const { return messages > 0 ? hop_messages / messages : 0; } // of a message
    double mean_hops_of_bytes() const { return bytes > 0 ? hop_bytes / bytes : 0; }
};

// `node_of`: of each rank. Without the links 0.1 us a pair, with them as much for each few hops; 8 bytes a link.
HopBytes hop_bytes(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of, bool links);

struct LoadedLink {
    LinkIndex link = 0;
    double bytes = 0;
    std::vector<PairTraffic> pairs; // that send most over it, the heaviest first
};

// The links that carry most for each of their cables, the heaviest first: `most` of them, each with up to `most_pairs`.
std::vector<LoadedLink> heaviest_links(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of,
                                       const std::vector<double>& link_bytes, size_t most, size_t most_pairs);

} // namespace plumb::network
