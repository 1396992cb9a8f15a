// The spread of one set of measurements: quantiles, and the interval of the median against tables and by how often it holds the truth.
#include "statistics/spread.h"
#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace plumb;
using statistics::spread_of;
using statistics::spread_of_series;

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

namespace {

// Of 88 values, each of which is like the one before it by `likeness`.
std::vector<double> drifting(Xorshift& random, double likeness) {
    const auto normal = [&] { // a sum of twelve: near enough
        double sum = -6;
        for (int i = 0; i < 12; ++i)
            sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
        return sum;
    };
    double value = normal();
    std::vector<double> values;
    for (int i = 0; i < 88; ++i) {
        value = likeness * value + std::sqrt(1 - likeness * likeness) * normal();
        values.push_back(100 + value);
    }
    return values;
}

bool overlap(const statistics::Spread& one, const statistics::Spread& other) {
    return one.low <= other.high && other.low <= one.high;
}

} // namespace

TEST_CASE("the interval of a series is from the least to the largest median of its eight parts") {
    std::vector<double> values;
    for (const double part : {5, 3, 9, 4, 6, 7, 8, 2})
        for (const double value : {part - 0.5, part, part + 20})
            values.push_back(value);
    const statistics::Spread spread = spread_of_series(values);
    REQUIRE(spread.is_known);
    CHECK(spread.low == 2);
    CHECK(spread.high == 9);
    CHECK(spread.median == spread_of(values).median);
    CHECK(spread.most == 29);
    CHECK_FALSE(spread_of_series(std::vector<double>{1, 2, 3, 4, 5}).is_known);
    CHECK(spread_of_series(std::vector<double>{1, 2, 3, 4, 5, 6, 7}).high == 7);
}

TEST_CASE("the interval of a series holds the median of values that are like those before them") {
    Xorshift random(29);
    constexpr int kSeries = 2000;
    int held = 0, held_by_values = 0;
    for (int series = 0; series < kSeries; ++series) {
        const std::vector<double> values = drifting(random, 0.7);
        const statistics::Spread spread = spread_of_series(values), alone = spread_of(values);
        held += spread.low <= 100 && 100 <= spread.high;
        held_by_values += alone.low <= 100 && 100 <= alone.high;
    }
    CHECK(held > 0.95 * kSeries);
    CHECK(held_by_values < 0.75 * kSeries); // which take each value for independent
}

TEST_CASE("two series agree whose median moves as much between them as within") {
    Xorshift random(31);
    constexpr int kPairs = 2000;
    int agree = 0, agree_by_values = 0, seen = 0;
    const auto series = [&] { // parts of eleven values, and the whole, each at a level of its own
        std::vector<double> values = drifting(random, 0);
        const std::vector<double> levels = drifting(random, 0);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] += 3 * (levels[i / 11] + levels[20]);
        return values;
    };
    for (int pair = 0; pair < kPairs; ++pair) {
        const std::vector<double> one = series(), other = series();
        agree += overlap(spread_of_series(one), spread_of_series(other));
        agree_by_values += overlap(spread_of(one), spread_of(other));
        std::vector<double> slower = one;
        for (double& value : slower)
            value += 30;
        seen += !overlap(spread_of_series(one), spread_of_series(slower));
    }
    CHECK(agree > 0.9 * kPairs);
    CHECK(agree_by_values < 0.8 * kPairs);
    CHECK(seen > 0.99 * kPairs); // it does not hide a change of ten times what the median drifts by
}
