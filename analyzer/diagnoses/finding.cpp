#include "diagnoses/finding.h"

namespace plumb {

namespace {

constexpr double kHigh = 0.10, kMedium = 0.03, kLow = 0.01; // of the run
constexpr double kLeast_s = 0.020;

} // namespace

Severity severity_of(const Gain& gain, double run_s) {
    const double fraction = gain.likely.value_or(gain.certain());
    if (!(fraction >= kLow) || fraction * run_s < kLeast_s)
        return Severity::info;
    if (fraction >= kHigh)
        return Severity::high;
    return fraction >= kMedium ? Severity::medium : Severity::low;
}

const char* to_string(Severity severity) {
    switch (severity) {
    case Severity::high:
        return "high";
    case Severity::medium:
        return "medium";
    case Severity::low:
        return "low";
    case Severity::info:
        break;
    }
    return "info";
}

} // namespace plumb
