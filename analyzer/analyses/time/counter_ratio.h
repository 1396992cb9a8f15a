// Relations between counted events. Events of different groups were counted at different times of the run, and no event all the time:
// only those are related that were counted together, and nothing is scaled up to the run.
#pragma once

#include "model/run.h"

#include <optional>
#include <string_view>

namespace plumb {

struct CounterRatio {
    double value = 0;     // sum of the one / sum of the other
    double time_share = 0; // of the run's wall time, in which both were counted
};

// Nothing: they were never counted together, or `denominator` stayed zero.
std::optional<CounterRatio> counter_ratio(const model::Run& run, std::string_view numerator, std::string_view denominator);

} // namespace plumb
