#include "record/counters/event_check.h"

#include <fmt/format.h>

namespace plumb::record {

namespace {

bool is_within(double count, const KnownCount& known) { return count >= known.least && count <= known.most; }

// Two digits below ten, then none: 0.50, 3.0, 16.
std::string times(double factor) { return factor < 1 ? fmt::format("{:.2f}", factor) : fmt::format("{:.3g}", factor); }

} // namespace

double running_share(const CounterValue& value) {
    if (!value.enabled_ns || !value.running_ns || *value.enabled_ns == 0)
        return 1;
    return static_cast<double>(*value.running_ns) / static_cast<double>(*value.enabled_ns);
}

std::string fault_of(const CounterValue& counted, const KnownCount& known, const KnownCount& of_first_thread) {
    const auto count = static_cast<double>(counted.count);
    if (counted.count < 0)
        return fmt::format("counts {} for known work", counted.count);
    if (const double share = running_share(counted); share < kLeastRunning)
        return fmt::format("was counted for {:.0f} % of the time only: others use the same counter", 100 * share);
    if (is_within(count, known))
        return {};
    if (counted.count == 0)
        return "counts nothing of known work";
    if (known.least > of_first_thread.most && is_within(count, of_first_thread))
        return "counts one of two threads of known work: not threads that begin later, or not on every CPU";
    if (known.exact > 0)
        return fmt::format("counts {} times what known work makes", times(count / known.exact));
    return count < known.least ? fmt::format("counts {:.3g} for known work, which makes at least {:.3g}", count, known.least)
                               : fmt::format("counts {:.3g} for known work, which makes at most {:.3g}", count, known.most);
}

} // namespace plumb::record
