// What the tool itself took from the run, as far as it knows.
#pragma once

#include "model/run.h"
#include "reports/report.h"

namespace plumb {

// CPU time of all threads of the run, in seconds: the scheduler's account where it was read, user + system
// time otherwise.
double cpu_seconds_of(const model::Run& run);

OwnCost own_cost_of(const model::Run& run, double cpu_seconds);

} // namespace plumb
