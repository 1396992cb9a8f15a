// Cycles that differ by the program's own way, and such as differ by chance.
#include "replay/cycle_kinds.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <set>

using namespace plumb::replay;

namespace {

// Equal cycles with a scatter of 3 %, and what `more` adds to each.
std::vector<double> cycles(size_t count, uint32_t seed, const std::function<double(size_t)>& more = {}) {
    std::mt19937 random(seed);
    std::normal_distribution<double> scatter(1, 0.03);
    std::vector<double> times;
    for (size_t at = 0; at < count; ++at)
        times.push_back(std::max(0.5, scatter(random)) + (more ? more(at) : 0));
    return times;
}

} // namespace

TEST_CASE("patterns by the number of the cycle are found, with their smallest period") {
    for (const size_t period : {2, 3, 10, 25})
        CHECK(pattern_of(cycles(300, 1, [&](size_t at) { return at % period == 1 ? 0.5 : 0.0; })).period == period);
    // Every second and every tenth: one pattern of ten.
    const CyclePattern both = pattern_of(cycles(400, 2, [](size_t at) { return (at % 2 ? 0.3 : 0) + (at % 10 == 9 ? 2 : 0); }));
    CHECK(both.period == 10);
    CHECK_FALSE(both.drifts);
    const CyclePattern rare = pattern_of(cycles(3000, 3, [](size_t at) { return at % 250 == 17 ? 0.5 : 0.0; }));
    CHECK(rare.period == 250);
    CHECK(rare.is_long);
    CHECK(rare.offset == 17);
}

TEST_CASE("what comes regularly in time is no pattern of the program") {
    for (const double period : {9.25, 7.3, 12.41})
        CHECK(pattern_of(cycles(300, 8, [&](size_t at) {
                  const auto cycle = static_cast<double>(at);
                  return std::floor((cycle + 1) / period) > std::floor(cycle / period) ? 0.5 : 0.0;
              })).period == 1);
    // A program that does more in two of seven steps counts them.
    CHECK(pattern_of(cycles(300, 9, [](size_t at) { return at % 7 == 2 || at % 7 == 5 ? 0.5 : 0.0; })).period == 7);
}

TEST_CASE("a pattern in cycles that grow is found all the same") {
    const CyclePattern pattern =
        pattern_of(cycles(400, 4, [](size_t at) { return static_cast<double>(at) / 100 * (at % 5 == 0 ? 1.5 : 1); }));
    CHECK(pattern.drifts);
    CHECK(pattern.period == 5);
}

TEST_CASE("drift: growth, adaption there and back; no drift by chance") {
    CHECK(pattern_of(cycles(100, 5, [](size_t at) { return static_cast<double>(at) / 200; })).drifts);
    CHECK(pattern_of(cycles(400, 6, [](size_t at) { return at > 100 && at < 250 ? 0.4 : 0.0; })).drifts);
    size_t drifts = 0, periods = 0;
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        std::exponential_distribution<double> tail(1);
        // Irregular disturbances with long tails in a tenth of the cycles.
        const CyclePattern pattern = pattern_of(cycles(50 + 3 * seed, seed, [&](size_t) { return random() % 10 == 0 ? tail(random) : 0.0; }));
        drifts += pattern.drifts;
        periods += pattern.period > 1;
    }
    CHECK(drifts <= 4);
    CHECK(periods <= 4);
}

TEST_CASE("too few or equal cycles have no pattern") {
    CHECK(pattern_of({}).period == 1);
    CHECK(pattern_of({1, 2, 1, 2, 1, 2, 1, 2}).period == 1);
    const CyclePattern equal = pattern_of(std::vector<double>(500, 0.25));
    CHECK(equal.period == 1);
    CHECK_FALSE(equal.drifts);
}

TEST_CASE("kinds: by what a cycle did, its place in the pattern, and its part of the run") {
    const std::vector<uint64_t> alike(100, 7);
    CHECK(std::ranges::count(kinds_of({}, alike), 0u) == 100);
    const std::vector<uint32_t> places = kinds_of({.period = 4}, alike);
    CHECK(places[1] == places[5]);
    CHECK(std::set<uint32_t>(places.begin(), places.end()).size() == 4);
    const std::vector<uint32_t> rare = kinds_of({.period = 70, .is_long = true, .offset = 3}, alike);
    CHECK(std::set<uint32_t>(rare.begin(), rare.end()).size() == 2);
    CHECK(rare[3] == rare[73]);
    CHECK(rare[3] != rare[4]);
    const std::vector<uint32_t> parts = kinds_of({.drifts = true}, alike);
    CHECK(std::set<uint32_t>(parts.begin(), parts.end()).size() == 10); // ten cycles each
    std::vector<uint64_t> two = alike;
    two[50] = 8;
    const std::vector<uint32_t> did = kinds_of({}, two);
    CHECK(did[50] != did[49]);
    CHECK(did[51] == did[49]);
}
