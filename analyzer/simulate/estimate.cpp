#include "simulate/estimate.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace plumb::simulate {

namespace {

// The 97.5 % quantile of Student's t: exact to three digits. From tables up to 10 degrees of freedom; above, Cornish and
// Fisher's expansion around the normal quantile (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5).
double student_t(size_t degrees) {
    constexpr std::array kSmall{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    if (degrees <= kSmall.size())
        return kSmall[degrees - 1];
    constexpr double z = 1.959964;
    const auto n = static_cast<double>(degrees);
    return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

} // namespace

Estimate estimate_of(std::span<const double> values) {
    Estimate result;
    const auto count = static_cast<double>(values.size());
    for (const double value : values)
        result.mean += value / count;
    if (values.size() < 2)
        return result;
    double squares = 0;
    for (const double value : values)
        squares += (value - result.mean) * (value - result.mean);
    result.half_width = student_t(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
    return result;
}

Estimate ratio_of(std::span<const double> values, std::span<const double> bases) {
    double sum = 0, base = 0;
    for (size_t i = 0; i < values.size(); i++) {
        sum += values[i];
        base += bases[i];
    }
    if (!(base > 0))
        return {1, 0};
    std::vector<double> rest;
    for (size_t i = 0; i < values.size(); i++)
        rest.push_back(values[i] - sum / base * bases[i]);
    return {sum / base, estimate_of(rest).half_width / (base / static_cast<double>(values.size()))};
}

} // namespace plumb::simulate
