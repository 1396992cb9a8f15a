// A mean over seeds and how well it is known.
#pragma once

#include <span>

namespace plumb::simulate {

struct Estimate {
    double mean = 0;
    double half_width = 0; // of the 95 % confidence interval, by Student's t; 0 of one value, where nothing is known of it
};

Estimate estimate_of(std::span<const double> values); // not empty

// Sum of `values` over sum of `bases`, pair by pair; the interval by linearisation (Cochran, Sampling techniques, chapter 6):
// that of the mean of value - ratio * base. Of bases that sum to 0 the ratio is 1.
Estimate ratio_of(std::span<const double> values, std::span<const double> bases);

} // namespace plumb::simulate
