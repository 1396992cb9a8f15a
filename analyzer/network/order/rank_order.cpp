#include "network/order/rank_order.h"

#include "network/order/grid_placement.h"
#include "network/order/scotch_placement.h"
#include "network/order/swaps.h"

#include <algorithm>
#include <numeric>

namespace plumb::network {

namespace {

using std::chrono::steady_clock;

struct Candidate {
    RankOrder::Method method;
    std::vector<uint32_t> slot_of;
    double hop_bytes = 0;
};

std::vector<NodeIndex> nodes_of(const std::vector<uint32_t>& slot_of, std::span<const NodeIndex> node_of_slot) {
    std::vector<NodeIndex> nodes;
    for (const uint32_t slot : slot_of)
        nodes.push_back(node_of_slot[slot]);
    return nodes;
}

// Exchanges change nodes only: which of a node's slots a rank gets is free, and stays its own where that is one of them.
std::vector<uint32_t> slots_on(const std::vector<NodeIndex>& node_of, std::span<const NodeIndex> node_of_slot) {
    std::vector<uint32_t> slot_of(node_of.size(), UINT32_MAX);
    std::vector<std::vector<uint32_t>> left(std::ranges::max(node_of_slot) + size_t{1});
    for (uint32_t slot = static_cast<uint32_t>(node_of_slot.size()); slot-- > 0;)
        if (node_of[slot] == node_of_slot[slot])
            slot_of[slot] = slot;
        else
            left[node_of_slot[slot]].push_back(slot);
    for (uint32_t rank = 0; rank < node_of.size(); ++rank)
        if (slot_of[rank] == UINT32_MAX) {
            slot_of[rank] = left[node_of[rank]].back();
            left[node_of[rank]].pop_back();
        }
    return slot_of;
}

Deadline in_seconds(double seconds) {
    return steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

} // namespace

RankOrder better_order(const Network& network, const Traffic& traffic, std::span<const NodeIndex> node_of, const JobShape& shape,
                       double limit_s) {
    RankOrder order;
    const auto begin = steady_clock::now();
    const auto elapsed_s = [&] { return std::chrono::duration<double>(steady_clock::now() - begin).count(); };
    order.before = hop_bytes(network, traffic, node_of, true);
    const double count_s = elapsed_s(); // is needed twice more: for the order that was improved last, and for the best one
    const auto left_s = [&] { return limit_s - 2 * count_s - elapsed_s(); };
    std::vector<uint32_t> as_it_is(node_of.size());
    std::iota(as_it_is.begin(), as_it_is.end(), 0u);
    const Partners partners(traffic);
    std::vector<Candidate> candidates{{RankOrder::Method::as_it_is, as_it_is}};
    if (shape.grid)
        for (SlotOfRank& slots : grid_placements(network, *shape.grid, node_of))
            candidates.push_back({RankOrder::Method::grid, std::move(slots)});
    ScotchPlacement partitioned = scotch_placement(network, partners, node_of);
    order.without = partitioned.why_not;
    if (!partitioned.slot_of.empty())
        candidates.push_back({RankOrder::Method::partitioned, std::move(partitioned.slot_of)});
    for (Candidate& each : candidates)
        each.hop_bytes = hop_bytes(network, traffic, nodes_of(each.slot_of, node_of), false).hop_bytes;
    std::ranges::stable_sort(candidates, {}, &Candidate::hop_bytes);
    // The best are improved: one that costs twice as much will not overtake them.
    const Candidate* best = nullptr;
    for (size_t i = 0; i < candidates.size() && candidates[i].hop_bytes <= 2 * candidates.front().hop_bytes; ++i) {
        Candidate& each = candidates[i];
        std::vector<NodeIndex> nodes = nodes_of(each.slot_of, node_of);
        improve_by_swaps(network, partners, nodes, in_seconds(std::max(0.0, left_s()) / 2));
        if (const double improved = hop_bytes(network, traffic, nodes, false).hop_bytes; improved < each.hop_bytes) {
            each.hop_bytes = improved;
            each.slot_of = slots_on(nodes, node_of);
        }
        if (!best || each.hop_bytes < best->hop_bytes)
            best = &each;
    }
    const bool is_better = best->hop_bytes < order.before.hop_bytes;
    order.method = is_better ? best->method : RankOrder::Method::as_it_is;
    order.slot_of = is_better ? best->slot_of : as_it_is;
    order.node_of = nodes_of(order.slot_of, node_of);
    order.after = hop_bytes(network, traffic, order.node_of, true);
    return order;
}

} // namespace plumb::network
