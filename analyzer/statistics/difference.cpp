#include "statistics/difference.h"

#include "statistics/rank_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace plumb::statistics {

namespace {

constexpr double kTailOfVerdict = 0.005; // 99 %

// Too few values for the bound that was asked for: the extreme ones.
uint64_t at_least_one(uint64_t bound) { return std::max<uint64_t>(bound, 1); }

struct Bounds {
    double middle = 0, low = 0, high = 0;
    bool is_known = false;
};

// The median of the values, and the bound-th from either end.
Bounds bounds_of(std::vector<double>& values, uint64_t bound) {
    std::ranges::sort(values);
    const double middle = median_of(values);
    if (bound == 0 || 2 * bound > values.size())
        return {middle, 0, 0, false};
    return {middle, values[bound - 1], values[values.size() - bound], true};
}

// Of the means of each two pairs and of each with itself: Walsh averages.
Bounds bounds_of_pairs(std::span<const double> differences, uint64_t bound) {
    std::vector<double> averages;
    for (size_t i = 0; i < differences.size(); i++)
        for (size_t j = i; j < differences.size(); j++)
            averages.push_back((differences[i] + differences[j]) / 2);
    return bounds_of(averages, bound);
}

// Of logarithms.
void set_ratio(const Bounds& bounds, const Bounds& certain, Difference& result) {
    result.ratio = std::exp(bounds.middle);
    result.is_known = bounds.is_known;
    if (bounds.is_known) {
        result.low = std::exp(bounds.low);
        result.high = std::exp(bounds.high);
        result.certain_low = std::exp(certain.low);
        result.certain_high = std::exp(certain.high);
    }
}

Difference medians_of(std::span<const double> base, std::span<const double> other) {
    Difference result;
    result.base_median = median_of(base);
    result.other_median = median_of(other);
    result.base_count = base.size();
    result.other_count = other.size();
    return result;
}

} // namespace

double median_of(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const size_t middle = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// Hodges, Lehmann: Estimates of location based on rank tests, 1963.
Difference difference_of(std::span<const double> base, std::span<const double> other) {
    Difference result = medians_of(base, other);
    std::vector<double> ratios;
    ratios.reserve(base.size() * other.size());
    for (const double one : base)
        for (const double two : other)
            ratios.push_back(std::log(two / one));
    const Bounds bounds = bounds_of(ratios, rank_sum_bound(base.size(), other.size(), kTailOf95));
    const Bounds certain = bounds_of(ratios, at_least_one(rank_sum_bound(base.size(), other.size(), kTailOfVerdict)));
    set_ratio(bounds, certain, result);
    return result;
}

Shift shift_of(std::span<const double> base, std::span<const double> other) {
    std::vector<double> shifts;
    shifts.reserve(base.size() * other.size());
    for (const double one : base)
        for (const double two : other)
            shifts.push_back(two - one);
    const Bounds bounds = bounds_of(shifts, rank_sum_bound(base.size(), other.size(), kTailOf95));
    return {median_of(base), median_of(other), bounds.middle, bounds.low, bounds.high, bounds.is_known};
}

Difference paired_difference_of(std::span<const double> base, std::span<const double> other, double tail) {
    Difference result = medians_of(base, other);
    std::vector<double> ratios;
    for (size_t i = 0; i < base.size(); i++)
        ratios.push_back(std::log(other[i] / base[i]));
    const Bounds bounds = bounds_of_pairs(ratios, signed_rank_bound(ratios.size(), tail));
    const Bounds certain = bounds_of_pairs(ratios, at_least_one(signed_rank_bound(ratios.size(), kTailOfVerdict)));
    set_ratio(bounds, certain, result);
    return result;
}

Shift paired_shift_of(std::span<const double> base, std::span<const double> other) {
    std::vector<double> shifts;
    for (size_t i = 0; i < base.size(); i++)
        shifts.push_back(other[i] - base[i]);
    const Bounds bounds = bounds_of_pairs(shifts, signed_rank_bound(shifts.size(), kTailOf95));
    return {median_of(base), median_of(other), bounds.middle, bounds.low, bounds.high, bounds.is_known};
}

} // namespace plumb::statistics
