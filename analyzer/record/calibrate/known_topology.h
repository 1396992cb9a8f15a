// The machine's topology as hwloc's XML: asking hwloc takes some milliseconds of every run, and what it answers stays the
// same until CPUs are switched on or off, or a container's limits change.
#pragma once

#include "platform/machine_cache.h"

#include <functional>
#include <string>

namespace plumb::record {

// All that the answer depends on, besides the machine and its boot. `root` is put before /proc and /sys. Empty: it depends
// on variables of hwloc, and must be asked for. `allowed_cpus`: of this process, list format.
std::string topology_conditions(const std::string& root, const std::string& allowed_cpus);

// As an earlier run under the same conditions found it; else from `ask`, and kept for later runs.
std::string known_topology_xml(platform::MachineCache& cache, const std::string& conditions,
                               const std::function<std::string()>& ask);

} // namespace plumb::record
