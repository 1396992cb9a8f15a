// What the job would gain, had ranks that come late no more to do than the others.
#pragma once

#include "replay/charges.h"

#include <vector>

namespace plumb::replay {

// Nanoseconds of the whole job that each rank would gain it, had it only the others' work to do (surplus.h). `charges` by row.
std::vector<double> gains_of(const Job& job, const EpochTable& epochs, const Responsible& responsible,
                             const JobCharge& all, const std::vector<RankCharge>& charges);

// The same for the ranks of each level together, those of the levels above it being cured already: what it gains beyond them.
std::vector<double> gains_of_levels(const Job& job, const EpochTable& epochs, const JobCharge& all,
                                    const std::vector<RankCharge>& charges);

} // namespace plumb::replay
