// What the tool itself took from the run, in words.
#pragma once

#include "model/call_paths.h"
#include "analysis/report.h"

namespace plumb {

// CPU time of all threads of the run, in seconds: the scheduler's account where it was read, user + system
// time otherwise.
double cpu_seconds_of(const model::Run& run);

OwnCost own_cost_of(const model::CallPaths& paths, double cpu_seconds);

} // namespace plumb
