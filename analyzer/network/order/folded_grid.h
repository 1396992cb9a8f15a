// A grid of tiles, folded into a box of a torus so that all neighbours on the grid are neighbours in the box.
#pragma once

#include "network/job/job_shape.h"
#include "network/machine/network.h"

#include <span>

namespace plumb::network {

// Shapes of tiles of so many cells that fill the grid, those with the shortest edges first: up to four. None: nothing divides it so.
std::vector<std::vector<uint32_t>> best_tiles(const std::vector<uint32_t>& sizes, uint32_t cells);

struct TiledGrid {
    TiledGrid(const Grid& grid, const std::vector<uint32_t>& tile);

    std::vector<uint32_t> sizes; // in tiles
    uint32_t cells_each = 1;
    std::vector<uint32_t> tile_of_rank;
    uint32_t count() const;
};

// For each way in which the sides of the slots' box, multiplied, make the sides of the grid: slots of the ranks. Empty: there is none,
// the box is not full, or this is no torus. `node_of`: of each slot.
std::vector<std::vector<uint32_t>> folded(const Network& network, const TiledGrid& grid, std::span<const NodeIndex> node_of);

} // namespace plumb::network
