#include "network/job/allocation.h"
#include "network/job/hop_bytes.h"
#include "network/job/job_shape.h"
#include "network/planted_traffic.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace plumb;
using namespace plumb::network;
using namespace plumb::network::planted;
using Catch::Contains;

TEST_CASE("pairs are added up, ordered by where they go, without what stays") {
    const Traffic traffic = Traffic::of(3, {{2, 0, 1, 10}, {0, 1, 1, 5}, {1, 1, 9, 9}, {2, 0, 2, 7}});
    REQUIRE(traffic.pairs.size() == 2);
    CHECK(traffic.pairs[0].from == 2);
    CHECK(traffic.pairs[0].bytes == 17);
    CHECK(traffic.pairs[0].messages == 3);
    CHECK(traffic.bytes() == 22);
    CHECK(traffic.messages() == 4);
    CHECK_THROWS_WITH(Traffic::of(3, {{0, 3, 1, 1}}), Contains("the ranks are 0 to 2"));
    const Partners partners(Traffic::of(3, {{0, 1, 1, 5}, {1, 0, 1, 7}, {2, 1, 1, 1}}));
    CHECK(partners.ranks == std::vector<uint32_t>{1, 0, 2, 1});
    CHECK(partners.bytes == std::vector<uint64_t>{12, 12, 1, 1});
}

TEST_CASE("what links carry adds up to the hop-bytes, whatever the network") {
    const Traffic traffic = random_traffic(60, 400, 7);
    const auto network = GENERATE_COPY(from_range(some_networks(60)));
    std::vector<NodeIndex> node_of(60);
    std::iota(node_of.begin(), node_of.end(), 0u);
    const HopBytes sum = hop_bytes(*network, traffic, node_of, true);
    CHECK(std::accumulate(sum.link_bytes.begin(), sum.link_bytes.end(), 0.0) == Approx(sum.hop_bytes));
    CHECK(sum.bytes == Approx(static_cast<double>(traffic.bytes())));
    const auto links = heaviest_links(*network, traffic, node_of, sum.link_bytes, 3, 5);
    REQUIRE(links.size() == 3);
    CHECK(links[0].bytes / network->cables(links[0].link) >= links[1].bytes / network->cables(links[1].link));
    uint64_t of_pairs = 0;
    for (const PairTraffic& pair : links[0].pairs)
        of_pairs += pair.bytes;
    CHECK(static_cast<double>(of_pairs) <= links[0].bytes);
}

TEST_CASE("allocations: pieces, boxes, and how far apart") {
    const auto made = ring_of(12);
    const std::vector<NodeIndex> split{0, 1, 2, 6, 7}, across{10, 11, 0, 1};
    const Allocation two = allocation_of(*made, split), one = allocation_of(*made, across);
    CHECK(two.pieces == 2);
    CHECK(one.pieces == 1);
    REQUIRE(one.box);
    CHECK(one.box->sizes == std::vector<uint32_t>{4}); // over the ends of the ring
    CHECK(one.box->nodes == 4);
    CHECK(two.box->nodes == 8);
    CHECK(one.mean_hops == Approx((3 * 1 + 2 * 2 + 1 * 3) / 6.0));
    CHECK(one.compact_mean_hops == Approx(one.mean_hops));
    CHECK(two.compact_mean_hops < two.mean_hops);
    // Ranks on 0 and 2 alone: all of what they send goes by a router without a rank.
    const Traffic traffic = Traffic::of(2, {{0, 1, 1, 100}});
    const std::vector<NodeIndex> apart{0, 2};
    CHECK(shared_link_share(*made, apart, hop_bytes(*made, traffic, apart, true).link_bytes) == 1);
}

TEST_CASE("shapes are found in ranks numbered along the grid, and in shuffled ones") {
    const bool shuffles = GENERATE(false, true), wraps = GENERATE(false, true);
    const auto sizes = GENERATE(std::vector<uint32_t>{24}, std::vector<uint32_t>{8, 12}, std::vector<uint32_t>{5, 6, 7});
    CAPTURE(shuffles, wraps, sizes);
    const Planted planted = halo(sizes, wraps, shuffles ? 11u : 0u);
    const JobShape shape = job_shape(planted.traffic);
    REQUIRE(shape.kind == JobShape::Kind::grid);
    std::vector<uint32_t> found = shape.grid->sizes, truth = sizes;
    std::ranges::sort(found);
    std::ranges::sort(truth);
    CHECK(found == truth);
    CHECK(shape.grid->by_rank == !shuffles);
    CHECK(shape.share == Approx(1));
}

TEST_CASE("small corners do not hide a halo") {
    const JobShape shape = job_shape(with_corners({8, 12}, 8000, 64).traffic);
    REQUIRE(shape.kind == JobShape::Kind::grid);
    CHECK(shape.grid->sizes == std::vector<uint32_t>{8, 12});
}

TEST_CASE("patterns that are no grid") {
    CHECK(job_shape(all_to_all(40)).kind == JobShape::Kind::all_to_all);
    const JobShape transpose = job_shape(rows_and_columns(6, 8));
    CHECK(transpose.kind == JobShape::Kind::rows_and_columns);
    CHECK(transpose.sizes == std::vector<uint32_t>{6, 8});
    const JobShape master = job_shape(master_and_workers(30, 4));
    CHECK(master.kind == JobShape::Kind::master);
    CHECK(master.master == 4);
    CHECK(job_shape(random_traffic(50, 600, 3)).kind == JobShape::Kind::other);
    CHECK(job_shape(Traffic::of(8, {})).kind == JobShape::Kind::silent);
}
