// What findings about hot loops of the machine code have in common.
#pragma once

#include "analyses/analyses.h"
#include "analyses/loops/sampled_loops.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/finding.h"

#include <string>

namespace plumb {

inline constexpr double kLeastLoopShare = 0.03; // of the sampled time
inline constexpr double kLeastLeft = 0.15;      // of the loop's time, to be saved before memory bandwidth is used up

// Where the loop is, what it costs and how sure that is; its title, gain and advice are left to do.
Finding finding_about(const SampledLoop& loop, const RunTotals& totals, const std::string& id);

// " at solve.c:12", of its heaviest line; empty: that is not known.
std::string place_in_title(const Finding& finding);

// Of the loop's time, what can be saved before memory gives no more: 0 to 1; 1 where the loop streams through no memory.
double left_of_bandwidth(const Analyses& analyses, const SampledLoop& loop);

// Most of its time goes into accesses that fall anywhere into a large piece of memory.
bool is_scattered(const model::Run& run, const SampledLoop& loop);

} // namespace plumb
