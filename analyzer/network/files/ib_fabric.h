// InfiniBand fabrics as ibnetdiscover prints them.
#pragma once

#include "network/files/topology_file.h"

#include <string_view>

namespace plumb::network {

bool is_ib_fabric(std::string_view text);

// Nodes are called by the first word of their adapters' descriptions ("nid00012 HCA-1"). Of a node with several adapters or ports the
// first one counts; the notes say so. Throws Error where a line cannot be read, or no node has such a name.
TopologyFile ib_fabric(std::string_view text);

} // namespace plumb::network
