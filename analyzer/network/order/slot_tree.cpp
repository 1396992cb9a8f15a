#include "network/order/slot_tree.h"

#include "network/machine/stretch.h"
#include "network/machine/torus.h"

#include <algorithm>
#include <numeric>

namespace plumb::network {

SlotTree::SlotTree(const Network& network, std::span<const NodeIndex> node_of)
    : network_(network), node_of_(node_of), levels_(network.levels()), slots_(node_of.size()) {
    std::iota(slots_.begin(), slots_.end(), 0u);
    parts_.push_back({0, static_cast<uint32_t>(slots_.size()), -1});
    for (size_t part = 0; part < parts_.size(); ++part)
        divide(part);
}

void SlotTree::divide(size_t number) {
    const Part part = parts_[number];
    const uint32_t middle = levels_.empty() ? by_extent(part) : by_levels(part);
    if (middle == part.begin)
        return;
    parts_[number].first = static_cast<int32_t>(parts_.size());
    parts_.push_back({part.begin, middle, -1});
    parts_.push_back({middle, part.end, -1});
}

// `key`: of each slot of the part, which is ordered by it. The part's own begin: all keys are equal.
uint32_t SlotTree::boundary_nearest_half(const Part& part, const std::vector<uint32_t>& key) const {
    const uint32_t half = part.begin + (part.end - part.begin) / 2;
    uint32_t best = part.begin;
    const auto off = [&](uint32_t at) { return at > half ? at - half : half - at; };
    for (uint32_t at = part.begin + 1; at < part.end; ++at)
        if (key[slots_[at]] != key[slots_[at - 1]] && (best == part.begin || off(at) < off(best)))
            best = at;
    return best;
}

uint32_t SlotTree::by_levels(const Part& part) {
    const auto own = std::span(slots_).subspan(part.begin, part.end - part.begin);
    std::vector<uint32_t> key(slots_.size());
    const auto divided_by = [&](auto part_of_node) {
        for (const uint32_t slot : own)
            key[slot] = part_of_node(node_of_[slot]);
        std::ranges::stable_sort(own, {}, [&](uint32_t slot) { return key[slot]; });
        return boundary_nearest_half(part, key);
    };
    for (const std::vector<uint32_t>& level : levels_)
        if (const uint32_t middle = divided_by([&](NodeIndex node) { return level[node]; }); middle != part.begin)
            return middle;
    return divided_by([](NodeIndex node) { return node; });
}

// Routers are not divided: between nodes of one there is no way to go.
uint32_t SlotTree::by_extent(const Part& part) {
    const auto* const torus = dynamic_cast<const Torus*>(&network_);
    if (!torus)
        return part.begin;
    const auto own = std::span(slots_).subspan(part.begin, part.end - part.begin);
    std::vector<uint32_t> key(slots_.size()), best_key;
    uint32_t longest = 1;
    for (size_t i = 0; i < torus->dimensions().size(); ++i) {
        const uint32_t size = torus->dimensions()[i].size;
        std::vector<bool> used(size, false);
        const auto place = [&](uint32_t slot) { return torus->place_on_cable(i, torus->coordinate(torus->router_of(node_of_[slot]), i)); };
        for (const uint32_t slot : own)
            used[place(slot)] = true;
        const Stretch stretch = shortest_stretch(used, torus->dimensions()[i].wraps);
        if (stretch.size <= longest)
            continue;
        longest = stretch.size;
        for (const uint32_t slot : own)
            key[slot] = (place(slot) + size - stretch.begin) % size;
        best_key = key;
    }
    if (best_key.empty())
        return part.begin;
    std::ranges::stable_sort(own, {}, [&](uint32_t slot) { return best_key[slot]; });
    return boundary_nearest_half(part, best_key);
}

} // namespace plumb::network
