// Which of two diagnoses reports the cost of crossings: each second is reported once.
#pragma once

#include "analyses/accesses/unaligned_lines.h"

#include <algorithm>

namespace plumb {

inline constexpr double kLeastNotedFraction = 0.01; // of the run: below this a cost is no finding above info

// Crossings of lines and pages cost so much that line-split-access makes a finding of them.
inline bool is_told_as_crossing(const AccessCost& cost, const UnalignedAccesses& accesses, const model::Run& run) {
    AccessCost crossings = cost;
    crossings.within_s = crossings.split_lock_s = 0;
    return run_cost(crossings, accesses, run).fraction >= kLeastNotedFraction;
}

// What aligning the data saves for certain: an access beside others may cost next to nothing where it would cost much
// alone, so only what was measured in its loop counts. `of_run`: `cost` as a part of the run.
inline double certain_gain(const Cost& of_run, const AccessCost& cost) {
    return cost.total_s() > 0 ? of_run.fraction * std::min(1.0, cost.measured_s / cost.total_s()) : 0;
}

} // namespace plumb
