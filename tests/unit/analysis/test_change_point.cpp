// A series that changed, and such as did not.
#include "analysis/change_point.h"

#include <catch2/catch.hpp>
#include <random>

using namespace plumb;

namespace {

std::vector<double> scattered(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> scatter(1, 0.1);
    std::vector<double> values;
    for (size_t at = 0; at < count; ++at)
        values.push_back(std::max(0.1, scatter(random)));
    return values;
}

} // namespace

TEST_CASE("find_change: a step is found where it is, with the medians on either side") {
    std::vector<double> values = scattered(200, 1);
    for (size_t at = 120; at < values.size(); ++at)
        values[at] += 0.5;
    const std::optional<Change> change = find_change(values);
    REQUIRE(change);
    CHECK(change->at >= 117);
    CHECK(change->at <= 123);
    CHECK(change->before == Approx(1).epsilon(0.03));
    CHECK(change->after == Approx(1.5).epsilon(0.03));
    CHECK_FALSE(change->is_gradual);
}

TEST_CASE("find_change: steady growth has no moment") {
    std::vector<double> values = scattered(200, 2);
    for (size_t at = 0; at < values.size(); ++at)
        values[at] += 0.01 * static_cast<double>(at);
    const std::optional<Change> change = find_change(values);
    REQUIRE(change);
    CHECK(change->is_gradual);
    CHECK(change->after > change->before);
}

TEST_CASE("find_change: chance, outliers and equal values are no change") {
    size_t found = 0;
    for (uint32_t seed = 0; seed < 100; ++seed)
        found += find_change(scattered(100, seed)).has_value();
    CHECK(found <= 1); // one in a thousand, less for differences below 5 %
    std::vector<double> values = scattered(100, 3);
    for (size_t at = 10; at < values.size(); at += 17)
        values[at] = 50;
    CHECK_FALSE(find_change(values));
    CHECK_FALSE(find_change(std::vector<double>(100, 2.0)));
    CHECK_FALSE(find_change({1, 1, 1, 1, 1, 2, 2, 2, 2, 2})); // too few
    CHECK_FALSE(find_change({}));
}
