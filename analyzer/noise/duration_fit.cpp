#include "noise/duration_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace plumb::noise {

namespace {

// What else happened in the quantum of an event lengthens it and never shortens it: the durations are constant when the short
// ones among them are alike, and their lower quartile is the duration, unless most quanta have such an addition.
constexpr double kConstantSpread = 0.03; // of the quartile, down to one in twenty
constexpr double kFarthest = 0.1;        // distance at which none of the shapes is the true one
constexpr size_t kQuantiles = 21, kFewest = 10;
constexpr double kOutliers = 0.02; // at each end: sums with other events

double quantile(const std::vector<double>& sorted, double probability) {
    const double place = probability * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    return std::lerp(sorted[below], sorted[std::min(below + 1, sorted.size() - 1)], place - static_cast<double>(below));
}

double distance(const std::vector<double>& sorted, const std::function<double(double)>& share_below) {
    double most = 0;
    for (size_t index = 0; index < sorted.size(); ++index)
        most = std::max(most, std::abs(share_below(sorted[index]) -
                                       (static_cast<double>(index) + 0.5) / static_cast<double>(sorted.size())));
    return most;
}

} // namespace

model::NoiseDuration fit_duration(std::vector<double> durations_s, double least_s) {
    using Shape = model::NoiseDuration::Shape;
    std::ranges::sort(durations_s);
    const double median_s = quantile(durations_s, 0.5), quarter_s = quantile(durations_s, 0.25);
    const double spread_s = (quantile(durations_s, 0.75) - quantile(durations_s, 0.25)) / 1.349; // of a normal distribution
    model::NoiseDuration result{.shape = Shape::constant, .mean_s = quarter_s, .spread_s = 0, .quantiles_s = {}};
    if (quarter_s - quantile(durations_s, 0.05) < kConstantSpread * quarter_s || durations_s.size() < kFewest)
        return result;
    const auto outliers = static_cast<std::ptrdiff_t>(kOutliers * static_cast<double>(durations_s.size()));
    const std::vector<double> values(durations_s.begin() + outliers, durations_s.end() - outliers);
    double sum_s = 0, squares = 0;
    for (const double value : values)
        sum_s += value;
    const double mean_s = sum_s / static_cast<double>(values.size());
    for (const double value : values)
        squares += (value - mean_s) * (value - mean_s);
    const double deviation_s = std::sqrt(squares / static_cast<double>(values.size()));
    const double half_s = deviation_s * std::sqrt(3.0);
    const double uniform =
        distance(values, [&](double x) { return std::clamp((x - mean_s + half_s) / (2 * half_s), 0.0, 1.0); });
    const double normal =
        distance(durations_s, [&](double x) { return 0.5 * std::erfc((median_s - x) / (spread_s * std::sqrt(2.0))); });
    // What exceeds the least of an exponential distribution has its mean.
    const double from_s = std::max(least_s, 0.0);
    double beyond_s = 0;
    for (const double value : durations_s)
        beyond_s += (value - from_s) / static_cast<double>(durations_s.size());
    const double exponential = distance(durations_s, [&](double x) { return -std::expm1(-(x - from_s) / beyond_s); });
    const double nearest = std::min({uniform, normal, exponential});
    if (nearest > kFarthest) {
        result = {.shape = Shape::measured, .mean_s = mean_s, .spread_s = deviation_s, .quantiles_s = {}};
        for (size_t index = 0; index < kQuantiles; ++index)
            result.quantiles_s.push_back(quantile(durations_s, static_cast<double>(index) / (kQuantiles - 1)));
    } else if (nearest == exponential) {
        result = {.shape = Shape::exponential, .mean_s = beyond_s, .spread_s = beyond_s, .quantiles_s = {}};
    } else if (nearest == uniform) {
        result = {.shape = Shape::uniform, .mean_s = mean_s, .spread_s = deviation_s, .quantiles_s = {}};
    } else {
        result = {.shape = Shape::normal, .mean_s = mean_s, .spread_s = spread_s, .quantiles_s = {}};
    }
    return result;
}

} // namespace plumb::noise
