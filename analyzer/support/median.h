#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plumb {

// Of an even number of values the upper one of the two in the middle. Reorders them; there must be one.
template <class Value> Value upper_median(std::vector<Value>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

} // namespace plumb
