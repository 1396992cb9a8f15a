// Trees of switches as Slurm knows them: topology.conf, and what `scontrol show topology` prints.
#pragma once

#include "network/files/topology_file.h"

#include <string_view>

namespace plumb::network {

bool is_slurm_topology(std::string_view text);

// Throws Error where a line cannot be read, a switch is not described, comes twice, or is below itself.
TopologyFile slurm_topology(std::string_view text);

} // namespace plumb::network
