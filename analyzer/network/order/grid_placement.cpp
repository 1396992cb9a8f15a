#include "network/order/grid_placement.h"

#include "network/order/folded_grid.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace plumb::network {

namespace {

// Gives the halves of the cells to the halves of the slots. `items`: cells, each for `weight` slots.
class TwofoldBisection {
  public:
    TwofoldBisection(const std::vector<uint32_t>& sizes, const SlotTree& tree, uint32_t weight)
        : sizes_(sizes), tree_(tree), weight_(weight), first_slot_(cells(sizes)) {
        items_.resize(first_slot_.size());
        std::iota(items_.begin(), items_.end(), 0u);
        if (items_.size() * weight != tree.slots().size())
            return;
        give(0, 0, static_cast<uint32_t>(items_.size()));
        is_made_ = true;
    }
    bool is_made() const { return is_made_; }
    uint32_t first_slot(uint32_t cell) const { return first_slot_[cell]; } // in tree.slots(); `weight` of them

  private:
    static size_t cells(const std::vector<uint32_t>& sizes) {
        size_t count = 1;
        for (const uint32_t size : sizes)
            count *= size;
        return count;
    }
    uint32_t coordinate(uint32_t cell, size_t dimension) const {
        for (size_t i = 0; i < dimension; ++i)
            cell /= sizes_[i];
        return cell % sizes_[dimension];
    }

    void give(size_t part, uint32_t begin, uint32_t end) {
        const SlotTree::Part& slots = tree_.parts()[part];
        if (slots.first < 0) {
            for (uint32_t i = begin; i < end; ++i)
                first_slot_[items_[i]] = slots.begin + (i - begin) * weight_;
            return;
        }
        const auto first = static_cast<size_t>(slots.first);
        const uint32_t middle = begin + (tree_.parts()[first].end - tree_.parts()[first].begin) / weight_;
        std::nth_element(items_.begin() + begin, items_.begin() + middle, items_.begin() + end, along_longest(begin, end));
        give(first, begin, middle);
        give(first + 1, middle, end);
    }

    std::function<bool(uint32_t, uint32_t)> along_longest(uint32_t begin, uint32_t end) const {
        size_t longest = 0;
        uint32_t extent = 0;
        for (size_t i = 0; i < sizes_.size(); ++i) {
            uint32_t least = std::numeric_limits<uint32_t>::max(), most = 0;
            for (uint32_t at = begin; at < end; ++at) {
                least = std::min(least, coordinate(items_[at], i));
                most = std::max(most, coordinate(items_[at], i));
            }
            if (most - least + 1 > extent) {
                extent = most - least + 1;
                longest = i;
            }
        }
        return [this, longest](uint32_t one, uint32_t other) {
            return std::pair(coordinate(one, longest), one) < std::pair(coordinate(other, longest), other);
        };
    }

    const std::vector<uint32_t>& sizes_;
    const SlotTree& tree_;
    const uint32_t weight_;
    std::vector<uint32_t> items_, first_slot_;
    bool is_made_ = false;
};

SlotOfRank halved_together(const Grid& grid, const SlotTree& tree) {
    const TwofoldBisection halves(grid.sizes, tree, 1);
    SlotOfRank slots;
    for (const uint32_t cell : grid.cell_of)
        slots.push_back(tree.slots()[halves.first_slot(cell)]);
    return slots;
}

// Of a job with as many ranks in each place; 0: they have not.
uint32_t slots_of_each_place(const Network& network, std::span<const NodeIndex> node_of) {
    // With levels messages between nodes of one place pass links as well: there the node counts.
    const bool by_node = !network.levels().empty();
    std::map<uint32_t, uint32_t> count;
    for (const NodeIndex node : node_of)
        ++count[by_node ? node : network.place_of(node)];
    const uint32_t first = count.begin()->second;
    return std::ranges::all_of(count, [&](const auto& entry) { return entry.second == first; }) ? first : 0;
}

std::optional<SlotOfRank> tiled(const Grid& grid, const std::vector<uint32_t>& tile, const SlotTree& tree) {
    const TiledGrid tiles(grid, tile);
    const TwofoldBisection halves(tiles.sizes, tree, tiles.cells_each);
    if (!halves.is_made())
        return std::nullopt;
    std::vector<uint32_t> taken(tiles.count(), 0);
    SlotOfRank slots;
    for (const uint32_t of : tiles.tile_of_rank)
        slots.push_back(tree.slots()[halves.first_slot(of) + taken[of]++]);
    return slots;
}

} // namespace

std::vector<SlotOfRank> grid_placements(const Network& network, const Grid& grid, std::span<const NodeIndex> node_of) {
    const SlotTree tree(network, node_of);
    std::vector<SlotOfRank> placements{halved_together(grid, tree)};
    const uint32_t each = slots_of_each_place(network, node_of);
    if (each == 0)
        return placements;
    for (const std::vector<uint32_t>& tile : best_tiles(grid.sizes, each)) {
        if (each > 1)
            if (auto slots = tiled(grid, tile, tree))
                placements.push_back(std::move(*slots));
        for (SlotOfRank& slots : folded(network, TiledGrid(grid, tile), node_of))
            placements.push_back(std::move(slots));
    }
    return placements;
}

} // namespace plumb::network
