#include "statistics/rank_sums.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <vector>

namespace plumb::statistics {

namespace {

constexpr size_t kMostExact = 60;

// Of a distribution around `mean` with the integers as values.
uint64_t normal_bound(double mean, double variance, double probability) {
    const double z = boost::math::quantile(boost::math::normal(), probability);
    return static_cast<uint64_t>(std::max(0.0, std::floor(mean + z * std::sqrt(variance) + 0.5)));
}

// The number of values, from 0 on, that together have less than this probability. `weights`: of each value.
uint64_t values_below(const std::vector<double>& weights, double probability) {
    double all = 0, below = 0;
    for (const double weight : weights)
        all += weight;
    for (size_t value = 0; value < weights.size(); value++)
        if ((below += weights[value]) > probability * all)
            return value;
    return weights.size();
}

} // namespace

// Orders with U = u: n values that are ahead of none, one or more of the m others, u in all (Mann, Whitney, 1947). Counted by
// adding the values one after the other: partitions of u into at most n parts of at most m.
uint64_t rank_sum_bound(size_t n, size_t m, double probability) {
    if (n == 0 || m == 0)
        return 0;
    const auto a = static_cast<double>(n), b = static_cast<double>(m);
    if (n + m > kMostExact)
        return normal_bound(a * b / 2, a * b * (a + b + 1) / 12, probability);
    // The Gaussian binomial coefficient: the product of (1 - q^(m + i)) / (1 - q^i), i = 1 .. n.
    std::vector<double> orders(n * m + 1, 0.0);
    orders[0] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t u = n * m; u >= m + i; u--)
            orders[u] -= orders[u - m - i];
        for (size_t u = i; u <= n * m; u++)
            orders[u] += orders[u - i];
    }
    return values_below(orders, probability);
}

// Each rank is in the sum or is not.
uint64_t signed_rank_bound(size_t n, double probability) {
    if (n == 0)
        return 0;
    const auto a = static_cast<double>(n);
    const size_t most = n * (n + 1) / 2;
    if (n > kMostExact)
        return normal_bound(static_cast<double>(most) / 2, a * (a + 1) * (2 * a + 1) / 24, probability);
    std::vector<double> signs(most + 1, 0.0);
    signs[0] = 1;
    for (size_t rank = 1; rank <= n; rank++)
        for (size_t sum = most; sum >= rank; sum--)
            signs[sum] += signs[sum - rank];
    return values_below(signs, probability);
}

} // namespace plumb::statistics
