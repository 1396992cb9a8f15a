#include "scale/fit.h"

#include "statistics/difference.h"

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace plumb::scale {

namespace {

constexpr size_t kResamples = 1000, kLeastPointsOfLaw = 4, kLeastPointsOfExponent = 3;
constexpr double kTailOfResamples = 0.025;
constexpr double kSureShare = 0.95;     // of the samples that must prefer one law
constexpr double kBend = 1 - 1e-9;      // rounding is no bend
constexpr double kFloorOfSquares = 1e-6; // a law that deviates by less than 0.1 % a point is not the better one for it

using Row = std::array<double, 3>;

double squares_of(std::span<const CurvePoint> curve, const auto& law) {
    double sum = 0;
    for (const CurvePoint& point : curve)
        sum += std::pow(law.cost(point.parts) / point.cost - 1, 2);
    return sum;
}

Row features_of(double parts) { return {1, parts - 1, parts * (parts - 1)}; }

// Least squares of relative deviations, of the features in `used` alone. Nothing: they are dependent.
std::optional<Row> solve(std::span<const CurvePoint> curve, const std::vector<size_t>& used) {
    const auto points = static_cast<Eigen::Index>(curve.size()), n = static_cast<Eigen::Index>(used.size());
    Eigen::MatrixXd features(points, n);
    for (Eigen::Index i = 0; i < points; ++i) {
        const CurvePoint& point = curve[static_cast<size_t>(i)];
        const Row all = features_of(point.parts);
        for (Eigen::Index j = 0; j < n; ++j)
            features(i, j) = all[used[static_cast<size_t>(j)]] / point.cost;
    }
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> decomposed(features);
    if (decomposed.rank() < n)
        return std::nullopt;
    const Eigen::VectorXd solved = decomposed.solve(Eigen::VectorXd::Ones(points));
    Row result{};
    for (Eigen::Index j = 0; j < n; ++j)
        result[used[static_cast<size_t>(j)]] = solved(j);
    return result;
}

// The relative least squares of one constant for values x[i]: those of 1 - c / x[i].
double constant_of(std::span<const double> values) {
    double once = 0, twice = 0;
    for (const double value : values) {
        once += 1 / value;
        twice += 1 / (value * value);
    }
    return once / twice;
}

// Schwarz's criterion: the law with the smaller one is preferred. A part of a law that is 0 is no parameter of it.
double criterion_of(double squares, size_t points, double parameters) {
    const auto n = static_cast<double>(points);
    return n * std::log(squares / n + kFloorOfSquares) + parameters * std::log(n);
}

bool is_saturated(const Usl& usl, const std::optional<Saturation>& saturation, size_t points) {
    return saturation && criterion_of(saturation->squares, points, 2) <
                             criterion_of(usl.squares, points, 1.0 + (usl.contention > 0) + (usl.coherence > 0));
}

std::vector<CurvePoint> medians_of(std::span<const double> parts, const std::vector<std::vector<double>>& samples,
                                   const std::vector<size_t>& rounds) {
    std::vector<CurvePoint> curve;
    for (size_t point = 0; point < parts.size(); ++point) {
        std::vector<double> values;
        for (const size_t round : rounds)
            if (std::isfinite(samples[round][point]))
                values.push_back(samples[round][point]);
        if (!values.empty())
            curve.push_back({parts[point], statistics::median_of(values)});
    }
    return curve;
}

std::vector<size_t> all_rounds(const std::vector<std::vector<double>>& samples) {
    std::vector<size_t> rounds(samples.size());
    for (size_t i = 0; i < rounds.size(); ++i)
        rounds[i] = i;
    return rounds;
}

// Calls `see` with the medians of each sample of the rounds in which no point is without a value.
void resample(std::span<const double> parts, const std::vector<std::vector<double>>& samples, size_t points,
              const std::function<void(std::span<const CurvePoint>)>& see) {
    std::mt19937_64 random(1);
    std::vector<size_t> rounds(samples.size());
    for (size_t i = 0; i < kResamples; ++i) {
        for (size_t& round : rounds)
            round = random() % samples.size();
        if (const std::vector<CurvePoint> curve = medians_of(parts, samples, rounds); curve.size() == points)
            see(curve);
    }
}

Interval middle_of(std::vector<double> values) {
    if (values.empty())
        return {};
    std::ranges::sort(values);
    const auto cut = static_cast<size_t>(kTailOfResamples * static_cast<double>(values.size()));
    return {values[cut], values[values.size() - 1 - cut]};
}

} // namespace

double Saturation::cost(double parts) const { return std::max(unit_s, shared_s * parts); }

Usl fit_usl(std::span<const CurvePoint> curve) {
    Usl best;
    best.squares = std::numeric_limits<double>::infinity();
    for (const std::vector<size_t>& used : {std::vector<size_t>{0}, {0, 1}, {0, 2}, {0, 1, 2}}) {
        const std::optional<Row> solved = solve(curve, used);
        if (!solved || (*solved)[0] <= 0 || (*solved)[1] < 0 || (*solved)[2] < 0)
            continue;
        Usl usl{(*solved)[0], (*solved)[1] / (*solved)[0], (*solved)[2] / (*solved)[0], 0};
        usl.squares = squares_of(curve, usl);
        if (usl.squares < best.squares)
            best = usl;
    }
    return best;
}

std::optional<Saturation> fit_saturation(std::span<const CurvePoint> curve) {
    std::optional<Saturation> best;
    for (size_t bend = 1; bend < curve.size(); ++bend) { // the first point behind it
        std::vector<double> before, behind;
        for (size_t i = 0; i < curve.size(); ++i)
            (i < bend ? before : behind).push_back(i < bend ? curve[i].cost : curve[i].cost / curve[i].parts);
        Saturation one{constant_of(before), constant_of(behind), 0};
        one.squares = squares_of(curve, one);
        // The bend lies where the points were divided, else another division fits better.
        if (one.served() < kBend * curve[bend].parts && (bend == 1 || one.served() >= kBend * curve[bend - 1].parts) &&
            (!best || one.squares < best->squares))
            best = one;
    }
    return best;
}

double fit_exponent(std::span<const CurvePoint> curve) {
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const CurvePoint& point : curve) {
        x += std::log(point.parts);
        y += std::log(point.cost);
        xx += std::pow(std::log(point.parts), 2);
        xy += std::log(point.parts) * std::log(point.cost);
    }
    const auto n = static_cast<double>(curve.size());
    return (n * xy - x * y) / (n * xx - x * x);
}

std::optional<CurveFit> fit_curve(std::span<const double> parts, const std::vector<std::vector<double>>& samples) {
    const std::vector<CurvePoint> curve = medians_of(parts, samples, all_rounds(samples));
    if (curve.size() < kLeastPointsOfLaw)
        return std::nullopt;
    CurveFit fit;
    fit.usl = fit_usl(curve);
    fit.saturation = fit_saturation(curve);
    std::vector<double> contention, coherence, served;
    size_t saturated = 0;
    resample(parts, samples, curve.size(), [&](std::span<const CurvePoint> one) {
        const Usl usl = fit_usl(one);
        const std::optional<Saturation> saturation = fit_saturation(one);
        contention.push_back(usl.contention);
        coherence.push_back(usl.coherence);
        if (saturation)
            served.push_back(saturation->served());
        saturated += is_saturated(usl, saturation, one.size());
    });
    fit.contention_95 = middle_of(contention);
    fit.coherence_95 = middle_of(coherence);
    fit.served_95 = middle_of(served);
    const double share = contention.empty() ? 0 : static_cast<double>(saturated) / static_cast<double>(contention.size());
    const bool saturates = is_saturated(fit.usl, fit.saturation, curve.size());
    fit.law = share >= kSureShare && saturates        ? Law::saturation
              : share <= 1 - kSureShare && !saturates ? Law::usl
                                                      : Law::cannot_tell;
    for (const CurvePoint& point : curve) {
        const double cost = saturates ? fit.saturation->cost(point.parts) : fit.usl.cost(point.parts);
        fit.worst_deviation = std::max(fit.worst_deviation, std::fabs(cost / point.cost - 1));
    }
    return fit;
}

std::optional<ExponentFit> fit_growth(std::span<const double> sizes, const std::vector<std::vector<double>>& samples) {
    const std::vector<CurvePoint> curve = medians_of(sizes, samples, all_rounds(samples));
    if (curve.size() < kLeastPointsOfExponent)
        return std::nullopt;
    std::vector<double> exponents;
    resample(sizes, samples, curve.size(), [&](std::span<const CurvePoint> one) { exponents.push_back(fit_exponent(one)); });
    return ExponentFit{fit_exponent(curve), middle_of(exponents)};
}

} // namespace plumb::scale
