// When a series changed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace plumb {

struct Change {
    size_t at = 0;           // first value after it
    double before = 0, after = 0; // medians of the values on either side
    bool is_gradual = false; // a straight line fits better than a step: there is no moment
};

// Pettitt's test (1979): the split with the greatest Mann-Whitney statistic, its error probability approximated by 2 exp(-6 K^2
// / (n^3 + n^2)). Nothing where that is above 0.001, in fewer than 20 values, and where the medians differ by less than 5 %.
// Values: positive, of equal weight, and independent of one another: a series that wanders seems to change too easily.
std::optional<Change> find_change(const std::vector<double>& values);

} // namespace plumb
