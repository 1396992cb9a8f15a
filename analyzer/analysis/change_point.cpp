#include "analysis/change_point.h"

#include "support/median.h"

#include <cmath>
#include <cstdint>
#include <span>

namespace plumb {

namespace {

constexpr size_t kLeastValues = 20;
constexpr double kMostError = 0.001, kLeastChange = 1.05;

double median_of(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    return upper_median(copy);
}

double squares_about(std::span<const double> values, double centre) {
    double sum = 0;
    for (const double value : values)
        sum += (value - centre) * (value - centre);
    return sum;
}

double mean_of(std::span<const double> values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

// Sum of squares about the line that fits best.
double squares_about_line(const std::vector<double>& values) {
    const double mean = mean_of(values), middle = (static_cast<double>(values.size()) - 1) / 2;
    double product = 0, square = 0;
    for (size_t at = 0; at < values.size(); ++at) {
        const double place = static_cast<double>(at) - middle;
        product += place * (values[at] - mean);
        square += place * place;
    }
    return squares_about(values, mean) - product * product / square;
}

} // namespace

std::optional<Change> find_change(const std::vector<double>& values) {
    const size_t count = values.size();
    if (count < kLeastValues)
        return {};
    int64_t statistic = 0, most = 0; // of splits behind the first 1, 2, ... values
    size_t at = 0;
    for (size_t split = 1; split < count; ++split) {
        for (const double other : values)
            statistic += (values[split - 1] > other) - (values[split - 1] < other);
        if (std::abs(statistic) > most) {
            most = std::abs(statistic);
            at = split;
        }
    }
    const auto n = static_cast<double>(count), k = static_cast<double>(most);
    if (most == 0 || 2 * std::exp(-6 * k * k / (n * n * n + n * n)) > kMostError)
        return {};
    const std::span<const double> all(values), first = all.first(at), second = all.subspan(at);
    Change change{.at = at, .before = median_of(first), .after = median_of(second)};
    if (change.before <= 0 || change.after <= 0 ||
        std::max(change.before / change.after, change.after / change.before) < kLeastChange)
        return {};
    const double step = squares_about(first, mean_of(first)) + squares_about(second, mean_of(second));
    change.is_gradual = squares_about_line(values) < step;
    return change;
}

} // namespace plumb
