// The table "who may run where": before the start as planned, after the end as applied.
#pragma once

#include "placement/pin_group.h"
#include "placement/planner.h"

#include <string>

namespace plumb::placement {

// `threads_per_process` 0: positions go to processes and threads alike; `rank` -1: none known.
std::string format_plan(const Plan& plan, const platform::Topology& topology, const std::vector<int>& allowed,
                        const Wish& wish, int threads_per_process, int rank);

// One line for each thread that was pinned, and what was not as planned. "" if no thread was pinned and nothing
// was refused.
std::string format_applied(const Plan& plan, const platform::Topology& topology, const PinGroup& group);

} // namespace plumb::placement
