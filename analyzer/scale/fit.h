// Laws of how a program scales, fitted to a curve.
//
// The Universal Scalability Law (Gunther: Guerrilla capacity planning, 2007): N parts do X(N) = N / (u (1 + s (N - 1) + k N (N
// - 1))) of the work a second. s, the contention, is the share of the work that only one part at a time can do; with k = 0 this
// is Amdahl's law, and s the serial part. k, the coherence, is what every part pays for each other one, which makes the curve
// fall in the end. The law of saturation: all parts share something, mostly the bandwidth of memory, that serves no more than
// so many of them.
//
// Both are fitted by least squares of the relative deviations of N / X(N): u (1 + ..), and max(u, v N).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plumb::scale {

struct CurvePoint {
    double parts = 0; // N
    double cost = 0;  // N / X(N), in seconds: of one program N times its time; of copies the time of a copy
};

struct Usl {
    double unit_s = 0, contention = 0, coherence = 0;
    double squares = 0; // sum of squared relative deviations
    double cost(double parts) const { return unit_s * (1 + contention * (parts - 1) + coherence * parts * (parts - 1)); }
};

struct Saturation {
    double unit_s = 0, shared_s = 0; // u, v
    double squares = 0;
    double served() const { return unit_s / shared_s; } // so many parts it serves at full speed
    double cost(double parts) const;
};

// Neither part is negative. At least three points of different N, with costs above 0.
Usl fit_usl(std::span<const CurvePoint> curve);
// Nothing: the curve does not bend.
std::optional<Saturation> fit_saturation(std::span<const CurvePoint> curve);

// Time as a power of the size, from the logarithms. At least two points.
double fit_exponent(std::span<const CurvePoint> curve);

struct Interval {
    double low = 0, high = 0;
};

enum class Law { usl, saturation, cannot_tell };

struct CurveFit {
    Usl usl;
    Interval contention_95, coherence_95;
    std::optional<Saturation> saturation;
    Interval served_95;         // meaningless without saturation
    Law law = Law::usl;         // which describes the curve
    double worst_deviation = 0; // of that law (of the law of least squares where none can be named) from a median
};

// samples[round][point], NaN: that run is missing. The medians of the points are fitted; the intervals are those of 1,000
// samples of the rounds with replacement (percentile bootstrap, a fixed seed). Nothing: fewer than four points have a value.
std::optional<CurveFit> fit_curve(std::span<const double> parts, const std::vector<std::vector<double>>& samples);

struct ExponentFit {
    double exponent = 0;
    Interval exponent_95;
};
// Nothing: fewer than three points have a value.
std::optional<ExponentFit> fit_growth(std::span<const double> sizes, const std::vector<std::vector<double>>& samples);

} // namespace plumb::scale
