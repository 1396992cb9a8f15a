// What came of a cure, against other runs in the same rounds.
#pragma once

#include "trial/decision.h"
#include "trial/judge.h"

#include <cstddef>
#include <optional>

namespace plumb::trial {

struct Measurement {
    Decision decision;
    double base_wall_s = 0, wall_s = 0;               // medians; 0: no pair
    double more_cpu = 0;                              // fraction, median of the pairs
    std::optional<double> more_memory = std::nullopt; // the same of the largest process; none: not known
    size_t not_counted = 0;
};

// `is_last`: as of decide().
Measurement measurement_of(const Pairs& pairs, const DecisionRules& rules, bool is_last);

} // namespace plumb::trial
