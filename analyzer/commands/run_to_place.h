// The messages of a recorded run, and where its ranks ran, as plumb topo needs them.
#pragma once

#include "network/study.h"

#include <map>
#include <string>
#include <vector>

namespace plumb {

struct PlacedJob {
    network::RecordedTraffic traffic;
    std::vector<std::map<int, double>> seconds_on_cpu; // of each rank, all its threads together; empty: not recorded
    std::map<std::string, std::string> topologies;     // hwloc's XML of each host that was recorded
};

// Of several MPI jobs the one that took the most time of ranks. Throws Error as open_run() does, and UsageError where the run has no MPI
// job, or not all of its ranks were recorded.
PlacedJob run_to_place(const std::string& directory);

} // namespace plumb
