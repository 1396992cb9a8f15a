// Medians of small lists.
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

} // namespace plumb::replay
