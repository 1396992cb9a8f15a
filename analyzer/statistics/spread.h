// How a set of measurements scatters, without the assumption of any distribution.
#pragma once

#include <cstddef>
#include <span>

namespace plumb::statistics {

struct Spread {
    size_t count = 0;
    double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, most = 0;
    double low = 0, high = 0; // 95 % confidence interval of the median; meaningless unless is_known
    bool is_known = false;    // six values at least

    double least_to_most() const { return least > 0 ? most / least - 1 : 0; } // 0.2: the largest is 20 % above the smallest
};

// Values in any order; at least one. The interval is that of the sign test: exact, from the order of the values.
Spread spread_of(std::span<const double> values);

// Values in the order in which they were measured, of something that drifts: each is like those before it. The interval is
// that of the sign test on the medians of eight consecutive parts, from the least to the largest: parts, not values, are taken
// for independent (batch medians), and it holds the median in 99 % then. If the median also moves from one series to the next
// by as much as from one part to another, the intervals of two series overlap in nine cases of ten.
Spread spread_of_series(std::span<const double> values);

} // namespace plumb::statistics
