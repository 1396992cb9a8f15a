// A mean over seeds and how well it is known.
#pragma once

#include <span>

namespace plumb::simulate {

struct Estimate {
    double mean = 0;
    double half_width = 0; // of the 95 % confidence interval, by Student's t; 0 of one value, where nothing is known of it
};

Estimate estimate_of(std::span<const double> values); // not empty

} // namespace plumb::simulate
