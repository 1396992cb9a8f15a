#include "noise/bursts.h"

#include <catch2/catch.hpp>

using namespace plumb;

TEST_CASE("turns of a daemon and the program are one event, periodic events are not") {
    model::NoiseLosses losses;
    losses.losses = {{0, 1, 1.000, 0.003}, {0, 1, 1.006, 0.003}, {0, 1, 1.016, 0.004}, {0, 1, 1.500, 0.010},
                     {0, 2, 1.502, 0.010}, {1, 2, 1.502, 0.010}, {1, 2, 1.600, 0.010}};
    const auto joined = noise::join_bursts(losses).losses;
    REQUIRE(joined.size() == 5);
    CHECK(joined[0].begin_s == Approx(1.0));
    CHECK(joined[0].length_s == Approx(0.010));
    CHECK(joined[1].length_s == Approx(0.010));
}
