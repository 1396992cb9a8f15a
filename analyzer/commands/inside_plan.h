// plumb topo --inside: the network of a job is the inside of its hosts.
#pragma once

#include "network/study.h"

#include <string>

namespace plumb {

// `run`: its directory. `description`: of the inside of every host: a file with hwloc's XML (lstopo --of xml),
// or hwloc's synthetic form ("pack:2 l3:4 core:8 pu:1"); empty: as it was recorded of each.
// Throws Error and UsageError as run_to_place() does, and where the inside of a host is not known.
network::StudyPlan inside_plan(const std::string& run, const std::string& description);

} // namespace plumb
