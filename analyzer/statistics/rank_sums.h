// The exact distributions of rank statistics, by counting: how many orders of the values have a sum that small.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plumb::statistics {

// The largest k such that of all orders of n values among n + m fewer than `probability` have a Mann-Whitney U below k: the
// k-th smallest and the k-th largest of the n * m differences then bound the difference of two samples with a confidence of
// 1 - 2 * probability (Moses; Hollander, Wolfe: Nonparametric statistical methods, 4.3). 0: even the extreme order is likelier.
// Exact where n + m is at most 60; else by the normal approximation.
uint64_t rank_sum_bound(size_t n, size_t m, double probability);

// The same of Wilcoxon's signed ranks of n pairs, for their n * (n + 1) / 2 Walsh averages. Exact up to 60 pairs.
uint64_t signed_rank_bound(size_t n, double probability);

} // namespace plumb::statistics
