// An order of ranks by Scotch (F. Pellegrini, J. Roman: dual recursive bipartitioning, HPCN 1996): ranks that exchange much come close
// together, whatever the pattern.
#pragma once

#include "network/job/traffic.h"
#include "network/machine/network.h"

#include <span>
#include <string>

namespace plumb::network {

struct ScotchPlacement {
    std::vector<uint32_t> slot_of; // by rank, each slot once; empty: none was made
    std::string why_not;           // then
};

// Networks with levels are given their parts from the outermost inward, each part by its number of slots; onto a torus the ranks of a
// router, which are found first, are mapped together. `node_of`: of each slot. Takes some 10 s for ten million pairs.
ScotchPlacement scotch_placement(const Network& network, const Partners& partners, std::span<const NodeIndex> node_of);

} // namespace plumb::network
