// The MPI job of a recorded run, as plumb simulate needs it.
#pragma once

#include "simulate/recorded_job.h"

#include <string>

namespace plumb {

// Of several jobs the one that took the most time of ranks. Throws Error as open_run() does, and UsageError where the run has no
// job that can be simulated, with what is missing.
simulate::RecordedJob run_to_simulate(const std::string& directory);

} // namespace plumb
