// The messages of a recorded run, as plumb topo needs them.
#pragma once

#include "network/study.h"

#include <string>

namespace plumb {

// Of several MPI jobs the one that took the most time of ranks. Throws Error as open_run() does, and UsageError where the run has no MPI
// job, or not all of its ranks were recorded.
network::RecordedTraffic run_to_place(const std::string& directory);

} // namespace plumb
