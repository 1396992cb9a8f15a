// Means of runs by their place in a network, and what connects time and links.
#include "compare/placements.h"

#include <catch2/catch.hpp>

using namespace plumb;

namespace {

PlacedRun placed(bool is_base, double wall_s, double links) {
    return {.run = "r", .is_base = is_base, .wall_s = wall_s, .nodes = 8, .pieces = static_cast<uint32_t>(links), .links_between_nodes = 1,
            .links_of_bytes = links};
}

} // namespace

TEST_CASE("mean, standard deviation and what the others save", "[placements]") {
    const Placements made = placements_of({placed(true, 160, 4), placed(true, 180, 5), placed(true, 206, 6), placed(false, 163, 1)});
    CHECK(made.are_of_bytes);
    CHECK(made.base.runs == 3);
    CHECK(made.base.mean_s == Approx(182));
    CHECK(made.base.deviation_s.value() == Approx(23.0651)); // of a sample: over n - 1
    CHECK(made.base.mean_links == Approx(5));
    CHECK(made.base.least_pieces == 4);
    CHECK(made.base.most_pieces == 6);
    CHECK(made.others.runs == 1);
    CHECK_FALSE(made.others.deviation_s);
    CHECK(made.saved() == Approx(1 - 163.0 / 182));
    CHECK_FALSE(made.are_enough());
    CHECK_FALSE(made.links_are_connected());
}

TEST_CASE("runs with more links take longer, or they do not", "[placements]") {
    std::vector<PlacedRun> longer, shorter, either;
    for (int i = 0; i < 8; ++i) {
        longer.push_back(placed(i < 4, 100 + i, 1 + i));
        shorter.push_back(placed(i < 4, 100 - i, 1 + i));
        either.push_back(placed(i < 4, 100 + i * 3 % 8, 1 + i));
    }
    CHECK(placements_of(longer).links_are_connected());
    CHECK(placements_of(longer).correlation == Approx(1));
    CHECK_FALSE(placements_of(shorter).links_are_connected());
    CHECK(placements_of(shorter).correlation == Approx(-1));
    CHECK_FALSE(placements_of(either).links_are_connected());
}

TEST_CASE("a run without messages: the links between nodes stand for all", "[placements]") {
    std::vector<PlacedRun> runs{placed(true, 2, 3), placed(false, 1, 3)};
    runs[1].links_of_bytes.reset();
    runs[1].links_between_nodes = 2;
    const Placements made = placements_of(runs);
    CHECK_FALSE(made.are_of_bytes);
    CHECK(made.base.mean_links == 1);
    CHECK(made.others.mean_links == 2);
}
