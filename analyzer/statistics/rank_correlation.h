// Whether two series rise and fall together, whatever the form of what connects them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace plumb::statistics {

// Spearman's coefficient, from -1 to 1; equal values share their mean rank. Series of the same length; 0 where one of them is
// constant or they are shorter than two.
double rank_correlation(std::span<const double> one, std::span<const double> other);

// 1 for the smallest; of equal values the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values);

// Values of a series of time often resemble the ones before: so many independent pairs have the same information about their
// correlation (Bartlett 1935, with the first autocorrelation of the ranks). At most the length.
double independent_pairs(std::span<const double> one, std::span<const double> other);

// The probability that the coefficient is at least that high by chance, for so many pairs (Student's distribution; Kendall,
// Gibbons: Rank correlation methods). 1: fewer than four pairs.
double chance_of(double coefficient, double pairs);

} // namespace plumb::statistics
