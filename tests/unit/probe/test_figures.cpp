// Figures of a probe: their intervals, and how they are printed.
#include "probe/judge/figures.h"
#include "reports/words/probe_words.h"

#include <catch2/catch.hpp>

using namespace plumb;
using probe::Figure;
using probe::Unit;

TEST_CASE("the interval of a figure holds what drifted in the time of the probe") {
    probe::Measured measured;
    for (int round = 0; round < 80; ++round) // 20 ns, and in the last eighth 30
        measured.clock_read_ns.push_back(round < 70 ? 20 : 30);
    const auto figures = figures_of(measured);
    const Figure* const clock = find(figures, "reading it", "clock");
    REQUIRE(clock);
    CHECK(clock->spread.median == Approx(20e-9));
    REQUIRE(clock->spread.is_known);
    CHECK(clock->spread.low == Approx(20e-9));
    CHECK(clock->spread.high == Approx(30e-9));
}

TEST_CASE("a figure is printed with the wider half of its interval, or its end") {
    const auto words = [](Unit unit, double median, double low, double high) {
        Figure figure{"test", "place", unit, {}};
        figure.spread.median = median;
        figure.spread.low = low;
        figure.spread.high = high;
        figure.spread.is_known = low > 0;
        return format_with_interval(figure);
    };
    CHECK(words(Unit::seconds, 162e-9, 158e-9, 163e-9) == "162 ns (3 %)");
    CHECK(words(Unit::bytes_per_s, 27.4e9, 27.4e9, 27.4e9) == "27.4 GB/s (0 %)");
    CHECK(words(Unit::seconds, 42.6e-9, 42e-9, 172e-9) == "42.6 ns (x4)");
    CHECK(words(Unit::ratio, 1.56, 0, 0) == "1.56");
}
