// Figures of two points, run beside run of the same round where there are enough such pairs, else all runs of both.
#pragma once

#include "scale/scaling.h"

#include <functional>
#include <vector>

namespace plumb::scale {

struct BothPoints {
    std::vector<double> base, other;
    bool is_paired = false; // base[i] was measured beside other[i]
};

BothPoints figures_of_both(const ScalePoint& base, const ScalePoint& other,
                           const std::function<double(const RunFacts&)>& figure);

statistics::Shift shift_between(const BothPoints& both);
statistics::Difference difference_between(const BothPoints& both);

} // namespace plumb::scale
