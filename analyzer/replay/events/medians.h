// Medians of small lists, and of lists without one of their members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plumb::replay {

// Of an even number of values the mean of the two in the middle, rounded towards zero where Value is an integer; 0 of none.
// Reorders them.
template <class Value> Value median(std::vector<Value>& values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0)
        return *middle;
    const Value below = *std::max_element(values.begin(), middle);
    return below + (*middle - below) / 2;
}

// The median of the others, for each member of a list of two or more.
template <class Value> struct MedianOfOthers {
    Value middle = 0, of_lower = 0, of_higher = 0; // of members up to the middle of the list, and beyond it

    Value of(Value member) const { return member <= middle ? of_lower : of_higher; }
};

// Reorders them; all 0 of fewer than two.
template <class Value> MedianOfOthers<Value> median_of_others(std::vector<Value>& values) {
    if (values.size() < 2)
        return {};
    const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), upper, values.end());
    const Value below = *std::max_element(values.begin(), upper);
    if (values.size() % 2 == 0)
        return {below, *upper, below};
    const Value above = *std::min_element(upper + 1, values.end());
    return {*upper, *upper + (above - *upper) / 2, below + (*upper - below) / 2};
}

} // namespace plumb::replay
