#include "network/order/exact_parts.h"
#include "network/order/rank_order.h"
#include "network/planted_traffic.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

using namespace plumb;
using namespace plumb::network;
using namespace plumb::network::planted;

namespace {

constexpr double kLimit_s = 10;

std::vector<NodeIndex> blocks(uint32_t ranks, uint32_t each) {
    std::vector<NodeIndex> nodes;
    for (uint32_t rank = 0; rank < ranks; ++rank)
        nodes.push_back(rank / each);
    return nodes;
}

RankOrder ordered(const Network& network, const Traffic& traffic, const std::vector<NodeIndex>& node_of) {
    const RankOrder order = better_order(network, traffic, node_of, job_shape(traffic), kLimit_s);
    // Whatever was found, each slot is used once, and the figures are those of the order.
    std::vector<uint32_t> slots = order.slot_of;
    std::ranges::sort(slots);
    for (uint32_t i = 0; i < slots.size(); ++i)
        REQUIRE(slots[i] == i);
    for (uint32_t rank = 0; rank < slots.size(); ++rank)
        REQUIRE(order.node_of[rank] == node_of[order.slot_of[rank]]);
    CHECK(order.after.hop_bytes <= order.before.hop_bytes);
    CHECK(hop_bytes(network, traffic, order.node_of, false).hop_bytes == Approx(order.after.hop_bytes));
    return order;
}

} // namespace

TEST_CASE("shuffled halos come back to within 5 % of the best order") {
    // Best: every message passes one link.
    SECTION("a plane on a torus of its size") {
        const Planted planted = halo({16, 24}, true, 5);
        const RankOrder order = ordered(*torus_of({16, 24}), planted.traffic, blocks(384, 1));
        CHECK(order.after.hop_bytes <= 1.05 * static_cast<double>(planted.traffic.bytes()));
        CHECK(order.before.hop_bytes > 4 * order.after.hop_bytes);
    }
    SECTION("a plane folded into three dimensions") {
        const Planted planted = halo({32, 12}, false, 6);
        const RankOrder order = ordered(*torus_of({4, 12, 8}), planted.traffic, blocks(384, 1));
        CHECK(order.after.hop_bytes <= 1.05 * static_cast<double>(planted.traffic.bytes()));
    }
    SECTION("a block on a torus of its size") {
        const Planted planted = halo({8, 6, 10}, true, 7);
        const RankOrder order = ordered(*torus_of({10, 8, 6}), planted.traffic, blocks(480, 1));
        CHECK(order.after.hop_bytes <= 1.05 * static_cast<double>(planted.traffic.bytes()));
    }
    SECTION("a line on a torus") {
        const Planted planted = halo({120}, false, 8);
        const RankOrder order = ordered(*torus_of({12, 10}), planted.traffic, blocks(120, 1));
        CHECK(order.after.hop_bytes <= 1.05 * static_cast<double>(planted.traffic.bytes()));
    }
}

TEST_CASE("a plane on nodes with many ranks: tiles leave the node least") {
    // 32 x 32 in tiles of 4 x 4: of 2 * 32 * 31 pairs of neighbours 2 * 7 * 32 are cut.
    const Planted planted = halo({32, 32}, false, 9);
    const RankOrder order = ordered(*fat_tree_of(8, 4, 8), planted.traffic, blocks(1024, 16));
    const double cut = 2.0 * 2 * 7 * 32 * 1000;
    CHECK(order.after.leaving_bytes <= 1.05 * cut);
}

TEST_CASE("random messages are not made worse, and an order that is best stays") {
    for (const auto& network : some_networks(60)) {
        const RankOrder order = ordered(*network, random_traffic(60, 500, 21), blocks(60, 1));
        CHECK(order.after.hop_bytes <= order.before.hop_bytes);
    }
    const Planted planted = halo({16, 24}, true, 0);
    const RankOrder same = ordered(*torus_of({16, 24}), planted.traffic, blocks(384, 1));
    CHECK(same.method == RankOrder::Method::as_it_is);
    const RankOrder even = ordered(*fat_tree_of(5, 2, 2), all_to_all(40), blocks(40, 4));
    CHECK(even.method == RankOrder::Method::as_it_is);
}

TEST_CASE("clusters of ranks without a grid come together") {
    // 16 groups of 8 that exchange much, shuffled; 8 ranks a node.
    const std::vector<uint32_t> rank_of = shuffled(128, 3);
    std::vector<PairTraffic> pairs;
    for (uint32_t one = 0; one < 128; ++one)
        for (uint32_t other = 0; other < 128; ++other)
            if (one != other)
                pairs.push_back({rank_of[one], rank_of[other], 1, one / 8 == other / 8 ? uint64_t{1000} : uint64_t{1}});
    const Traffic traffic = Traffic::of(128, std::move(pairs));
    const RankOrder order = ordered(*fat_tree_of(4, 2, 4), traffic, blocks(128, 8));
    if (order.without.empty()) // Scotch is there
        CHECK(order.after.leaving_bytes <= 1.05 * 128 * 120);
    else
        CHECK(order.after.leaving_bytes < order.before.leaving_bytes);
}

TEST_CASE("parts are made exact") {
    const Planted planted = halo({6, 6}, false, 0);
    std::vector<uint32_t> part(36, 0);
    make_exact(Partners(planted.traffic), {12, 20, 4}, part);
    CHECK(std::ranges::count(part, 0u) == 12);
    CHECK(std::ranges::count(part, 1u) == 20);
    CHECK(std::ranges::count(part, 2u) == 4);
}
