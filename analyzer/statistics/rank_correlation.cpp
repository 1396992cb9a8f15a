#include "statistics/rank_correlation.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace plumb::statistics {

namespace {

constexpr double kFewestPairs = 4;

double correlation(std::span<const double> one, std::span<const double> other) {
    if (one.size() < 2)
        return 0;
    const auto count = static_cast<double>(one.size());
    const double mean_one = std::accumulate(one.begin(), one.end(), 0.0) / count;
    const double mean_other = std::accumulate(other.begin(), other.end(), 0.0) / count;
    double both = 0, square_one = 0, square_other = 0;
    for (size_t i = 0; i < one.size(); ++i) {
        both += (one[i] - mean_one) * (other[i] - mean_other);
        square_one += (one[i] - mean_one) * (one[i] - mean_one);
        square_other += (other[i] - mean_other) * (other[i] - mean_other);
    }
    return square_one > 0 && square_other > 0 ? both / std::sqrt(square_one * square_other) : 0;
}

// Of each value with the next.
double autocorrelation(const std::vector<double>& ranks) {
    return ranks.size() < 3 ? 0 : correlation(std::span(ranks).first(ranks.size() - 1), std::span(ranks).subspan(1));
}

} // namespace

std::vector<double> ranks_of(std::span<const double> values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (size_t begin = 0; begin < order.size();) {
        size_t end = begin + 1;
        while (end < order.size() && values[order[end]] == values[order[begin]])
            ++end;
        for (size_t i = begin; i < end; ++i)
            ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
        begin = end;
    }
    return ranks;
}

double rank_correlation(std::span<const double> one, std::span<const double> other) {
    return correlation(ranks_of(one), ranks_of(other));
}

double independent_pairs(std::span<const double> one, std::span<const double> other) {
    const auto count = static_cast<double>(one.size());
    const double both = autocorrelation(ranks_of(one)) * autocorrelation(ranks_of(other));
    return both > 0 ? count * (1 - both) / (1 + both) : count;
}

double chance_of(double coefficient, double pairs) {
    if (!(pairs >= kFewestPairs))
        return 1;
    if (coefficient >= 1)
        return 0;
    const double t = coefficient * std::sqrt((pairs - 2) / (1 - coefficient * coefficient));
    return boost::math::cdf(boost::math::complement(boost::math::students_t(pairs - 2), t));
}

} // namespace plumb::statistics
