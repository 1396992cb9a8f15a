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

TEST_CASE("what is much shorter than a daemon's slices does not lead from one of its events to the next") {
    model::NoiseLosses losses;
    for (int event = 0; event < 10; ++event) {
        const double begin_s = 0.5 * event;
        losses.losses.push_back({0, 1, begin_s, 0.020}); // in one slice
        for (int other = 1; other < 24; ++other)
            losses.losses.push_back({0, 1, begin_s + 0.020 * other + 0.003, 30e-6}); // the first one right behind it
    }
    size_t events = 0;
    for (const model::NoiseLoss& loss : noise::join_bursts(losses).losses)
        if (loss.length_s > 1e-3) {
            CHECK(loss.length_s == Approx(0.020).epsilon(0.01));
            ++events;
        }
    CHECK(events == 10);
}

TEST_CASE("others that come at each tick behind a daemon's event are no part of it, nor is the last, shorter slice an event of its own") {
    model::NoiseLosses losses;
    for (int event = 0; event < 5; ++event) {
        double at_s = 0.5 * event;
        for (const double slice_s : {4e-3, 4e-3, 4e-3, 1.5e-3}) {
            losses.losses.push_back({0, 1, at_s, slice_s});
            at_s += slice_s + 4e-3;
        }
        for (; at_s < 0.5 * event + 0.49; at_s += 4e-3)
            losses.losses.push_back({0, 1, at_s, 20e-6});
    }
    size_t events = 0;
    for (const model::NoiseLoss& loss : noise::join_bursts(losses).losses)
        if (loss.length_s > 1e-3) {
            CHECK(loss.length_s == Approx(13.5e-3).epsilon(0.01));
            ++events;
        }
    CHECK(events == 5);
}
