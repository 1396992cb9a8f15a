// Orders of ranks that exchange halos on a grid, such that neighbours on the grid lie close together in the network.
#pragma once

#include "network/job/job_shape.h"
#include "network/order/slot_tree.h"

namespace plumb::network {

using SlotOfRank = std::vector<uint32_t>; // by rank, each slot once

// What is worth comparing, unimproved: grid and slots halved together; where all places have as many slots, tiles of so many cells for
// the cells; and where the slots fill a box of a torus whose sides make up those of the grid, the grid folded into it, which is the best
// there is.
std::vector<SlotOfRank> grid_placements(const Network& network, const Grid& grid, std::span<const NodeIndex> node_of);

} // namespace plumb::network
