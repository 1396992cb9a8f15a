// The spread of one set of measurements: quantiles, and the interval of the median against tables and by how often it holds the truth.
#include "statistics/spread.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace plumb;
using statistics::spread_of;

TEST_CASE("quantiles and the interval of the median come from the order of the values") {
    const std::vector<double> values{7, 1, 3, 9, 5, 11, 13, 15, 17, 19};
    const statistics::Spread spread = spread_of(values);
    CHECK(spread.count == 10);
    CHECK(spread.least == 1);
    CHECK(spread.most == 19);
    CHECK(spread.median == 10);
    CHECK(spread.lower_quartile == Approx(5.5));
    CHECK(spread.upper_quartile == Approx(14.5));
    CHECK(spread.least_to_most() == Approx(18));
    REQUIRE(spread.is_known); // of ten values the second and the ninth: 97.9 %
    CHECK(spread.low == 3);
    CHECK(spread.high == 17);
}

TEST_CASE("fewer than six values have no interval") {
    CHECK_FALSE(spread_of(std::vector<double>{1, 2, 3, 4, 5}).is_known);
    CHECK(spread_of(std::vector<double>{1, 2, 3, 4, 5, 6}).is_known);
    CHECK(spread_of(std::vector<double>{4}).median == 4);
    CHECK(spread_of(std::vector<double>{4}).least_to_most() == 0);
}

TEST_CASE("the interval holds the median at least as often as it says") {
    Xorshift random(17);
    for (const size_t count : {6u, 10u, 25u}) {
        int held = 0;
        constexpr int kRounds = 4000;
        for (int round = 0; round < kRounds; ++round) {
            std::vector<double> values;
            for (size_t i = 0; i < count; ++i)
                values.push_back(-std::log(1 - static_cast<double>(random.next() >> 11) * 0x1p-53));
            const statistics::Spread spread = spread_of(values);
            held += spread.low <= std::log(2.0) && std::log(2.0) <= spread.high;
        }
        CHECK(held > 0.945 * kRounds);
    }
}
