#include "network/order/folded_grid.h"

#include "network/machine/stretch.h"
#include "network/machine/torus.h"

#include <algorithm>

namespace plumb::network {

namespace {

constexpr size_t kMostTiles = 4, kMostFoldings = 16;

// Edges of a tile: what its cells send to others, were all sides alike.
double edges_of(const std::vector<uint32_t>& tile, uint32_t cells) {
    double edges = 0;
    for (const uint32_t side : tile)
        edges += static_cast<double>(cells) / side;
    return edges;
}

void add_tiles(const std::vector<uint32_t>& sizes, uint32_t left, std::vector<uint32_t>& tile, std::vector<std::vector<uint32_t>>& tiles) {
    const size_t dimension = tile.size();
    if (dimension == sizes.size()) {
        if (left == 1)
            tiles.push_back(tile);
        return;
    }
    for (uint32_t side = 1; side <= std::min(left, sizes[dimension]); ++side) {
        if (left % side != 0 || sizes[dimension] % side != 0)
            continue;
        tile.push_back(side);
        add_tiles(sizes, left / side, tile, tiles);
        tile.pop_back();
    }
}

// The box of the slots: by dimension its stretch; by place in it, x fastest, the slots there.
struct SlotBox {
    std::vector<Stretch> sides;
    std::vector<std::vector<uint32_t>> slots;
};

SlotBox box_of(const Torus& torus, std::span<const NodeIndex> node_of) {
    SlotBox box;
    const auto place = [&](NodeIndex node, size_t dimension) {
        return torus.place_on_cable(dimension, torus.coordinate(torus.router_of(node), dimension));
    };
    size_t places = 1;
    for (size_t i = 0; i < torus.dimensions().size(); ++i) {
        std::vector<bool> used(torus.dimensions()[i].size, false);
        for (const NodeIndex node : node_of)
            used[place(node, i)] = true;
        box.sides.push_back(shortest_stretch(used, torus.dimensions()[i].wraps));
        places *= box.sides.back().size;
    }
    if (places > node_of.size())
        return box; // some are empty
    box.slots.resize(places);
    for (uint32_t slot = 0; slot < node_of.size(); ++slot) {
        size_t at = 0;
        for (size_t i = box.sides.size(); i-- > 0;) {
            const uint32_t cable = torus.dimensions()[i].size;
            at = at * box.sides[i].size + (place(node_of[slot], i) + cable - box.sides[i].begin) % cable;
        }
        box.slots[at].push_back(slot);
    }
    return box;
}

// All assignments of the box's sides to those of the grid whose products are right: by side of the box its grid's dimension.
void add_foldings(const std::vector<Stretch>& sides, std::vector<uint32_t> left, std::vector<size_t>& folding,
                  std::vector<std::vector<size_t>>& foldings) {
    const size_t side = folding.size();
    if (side == sides.size()) {
        if (std::ranges::all_of(left, [](uint32_t size) { return size == 1; }))
            foldings.push_back(folding);
        return;
    }
    for (size_t dimension = 0; dimension < left.size() && foldings.size() < kMostFoldings; ++dimension) {
        if (left[dimension] % sides[side].size != 0)
            continue;
        std::vector<uint32_t> rest = left;
        rest[dimension] /= sides[side].size;
        folding.push_back(dimension);
        add_foldings(sides, rest, folding, foldings);
        folding.pop_back();
        if (sides[side].size == 1)
            break; // it makes no difference where this side goes
    }
}

// To and fro: each step along the grid is one step along one of its sides.
size_t place_in_box(const std::vector<Stretch>& sides, const std::vector<size_t>& folding, const std::vector<uint32_t>& sizes, uint32_t cell) {
    std::vector<uint32_t> at(sides.size(), 0);
    for (size_t dimension = 0; dimension < sizes.size(); ++dimension) {
        uint32_t along = cell % sizes[dimension];
        cell /= sizes[dimension];
        for (size_t side = 0; side < sides.size(); ++side) {
            if (folding[side] != dimension)
                continue;
            const uint32_t size = sides[side].size, turns = along / size, within = along % size;
            at[side] = turns % 2 == 0 ? within : size - 1 - within;
            along = turns;
        }
    }
    size_t place = 0;
    for (size_t side = sides.size(); side-- > 0;)
        place = place * sides[side].size + at[side];
    return place;
}

} // namespace

std::vector<std::vector<uint32_t>> best_tiles(const std::vector<uint32_t>& sizes, uint32_t cells) {
    std::vector<std::vector<uint32_t>> tiles;
    std::vector<uint32_t> tile;
    add_tiles(sizes, cells, tile, tiles);
    std::ranges::stable_sort(tiles, {}, [&](const auto& each) { return edges_of(each, cells); });
    tiles.resize(std::min(tiles.size(), kMostTiles));
    return tiles;
}

TiledGrid::TiledGrid(const Grid& grid, const std::vector<uint32_t>& tile) {
    for (size_t i = 0; i < tile.size(); ++i) {
        sizes.push_back(grid.sizes[i] / tile[i]);
        cells_each *= tile[i];
    }
    for (const uint32_t cell : grid.cell_of) {
        uint32_t at = 0;
        for (size_t i = tile.size(); i-- > 0;)
            at = at * sizes[i] + grid.coordinate(cell, i) / tile[i];
        tile_of_rank.push_back(at);
    }
}

uint32_t TiledGrid::count() const {
    uint32_t tiles = 1;
    for (const uint32_t size : sizes)
        tiles *= size;
    return tiles;
}

std::vector<std::vector<uint32_t>> folded(const Network& network, const TiledGrid& grid, std::span<const NodeIndex> node_of) {
    const auto* const torus = dynamic_cast<const Torus*>(&network);
    if (!torus)
        return {};
    const SlotBox box = box_of(*torus, node_of);
    if (box.slots.size() != grid.count() || std::ranges::any_of(box.slots, [&](const auto& each) { return each.size() != grid.cells_each; }))
        return {};
    std::vector<std::vector<size_t>> foldings;
    std::vector<size_t> folding;
    add_foldings(box.sides, grid.sizes, folding, foldings);
    std::vector<std::vector<uint32_t>> placements;
    for (const std::vector<size_t>& each : foldings) {
        std::vector<uint32_t> taken(box.slots.size(), 0), slots;
        for (const uint32_t tile : grid.tile_of_rank) {
            const size_t place = place_in_box(box.sides, each, grid.sizes, tile);
            slots.push_back(box.slots[place][taken[place]++]);
        }
        placements.push_back(std::move(slots));
    }
    return placements;
}

} // namespace plumb::network
