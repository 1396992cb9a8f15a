#include "simulate/duration_draw.h"

#include "simulate/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plumb::simulate {

namespace {

using Shape = model::NoiseDuration::Shape;

constexpr double kMostNormal = 8.572;      // sqrt(-2 log(2^-53)): no normal value of drawn_normal is beyond
constexpr double kMostExponential = 36.74; // -log(2^-53)
constexpr double kShortTail = 20;          // means

// Box and Muller, Annals of Mathematical Statistics 29 (1958).
double drawn_normal(uint64_t key) {
    const double radius = std::sqrt(-2 * std::log(1 - fraction_of(key_of(key, 0))));
    return radius * std::cos(2 * std::numbers::pi * fraction_of(key_of(key, 1)));
}

double quantile(const std::vector<double>& quantiles_s, double fraction) {
    const double place = fraction * static_cast<double>(quantiles_s.size() - 1);
    const auto below = static_cast<size_t>(place);
    if (below + 1 >= quantiles_s.size())
        return quantiles_s.back();
    return std::lerp(quantiles_s[below], quantiles_s[below + 1], place - static_cast<double>(below));
}

} // namespace

double drawn_length_s(const model::NoiseDuration& duration, uint64_t key) {
    switch (duration.shape) {
    case Shape::constant:
        break;
    case Shape::uniform:
        return std::max(0.0, duration.mean_s + duration.spread_s * std::numbers::sqrt3 * (2 * fraction_of(mixed(key)) - 1));
    case Shape::normal:
        return std::max(0.0, duration.mean_s + duration.spread_s * drawn_normal(key));
    case Shape::exponential:
        return -duration.mean_s * std::log(1 - fraction_of(mixed(key)));
    case Shape::measured:
        return duration.quantiles_s.empty() ? duration.mean_s : quantile(duration.quantiles_s, fraction_of(mixed(key)));
    }
    return duration.mean_s;
}

double longest_length_s(const model::NoiseDuration& duration) {
    switch (duration.shape) {
    case Shape::constant:
        break;
    case Shape::uniform:
        return duration.mean_s + duration.spread_s * std::numbers::sqrt3;
    case Shape::normal:
        return duration.mean_s + duration.spread_s * kMostNormal;
    case Shape::exponential:
        return duration.mean_s * kMostExponential;
    case Shape::measured:
        return duration.quantiles_s.empty() ? duration.mean_s : duration.quantiles_s.back();
    }
    return duration.mean_s;
}

bool has_short_tail(const model::NoiseDuration& duration) {
    return duration.shape != Shape::exponential && longest_length_s(duration) <= kShortTail * duration.mean_s;
}

} // namespace plumb::simulate
