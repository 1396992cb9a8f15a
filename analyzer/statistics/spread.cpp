#include "statistics/spread.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

namespace plumb::statistics {

namespace {

constexpr double kTailOfMedian = 0.025;
constexpr size_t kMostParts = 8; // of a series

// Between two values where the place lies between them.
double at_place(std::span<const double> sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The largest k such that fewer than k of n values lie below the median of all there could be with at most that probability: then it
// lies between the k-th smallest and the k-th largest (Hollander, Wolfe: Nonparametric statistical methods, 3.6). 0: none.
size_t sign_bound(size_t n, double probability) {
    const boost::math::binomial below(static_cast<double>(n), 0.5);
    size_t bound = 0;
    while (2 * (bound + 1) <= n && boost::math::cdf(below, static_cast<double>(bound)) <= probability)
        ++bound;
    return bound;
}

} // namespace

Spread spread_of(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    Spread spread;
    spread.count = sorted.size();
    spread.least = sorted.front();
    spread.lower_quartile = at_place(sorted, 0.25);
    spread.median = at_place(sorted, 0.5);
    spread.upper_quartile = at_place(sorted, 0.75);
    spread.most = sorted.back();
    if (const size_t bound = sign_bound(sorted.size(), kTailOfMedian); bound > 0) {
        spread.low = sorted[bound - 1];
        spread.high = sorted[sorted.size() - bound];
        spread.is_known = true;
    }
    return spread;
}

Spread spread_of_series(std::span<const double> values) {
    Spread spread = spread_of(values);
    const size_t parts = std::min(values.size(), kMostParts);
    std::vector<double> medians;
    for (size_t part = 0; part < parts; ++part) {
        const size_t begin = part * values.size() / parts, end = (part + 1) * values.size() / parts;
        medians.push_back(spread_of(values.subspan(begin, end - begin)).median);
    }
    const Spread of_parts = spread_of(medians);
    spread.is_known = of_parts.is_known;
    spread.low = std::min(of_parts.low, spread.median);
    spread.high = std::max(of_parts.high, spread.median);
    return spread;
}

} // namespace plumb::statistics
