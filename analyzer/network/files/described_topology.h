// plumb's own description of a network, plumb-topology/1.
#pragma once

#include "network/files/topology_file.h"

namespace plumb::network {

// An example of each kind, for the help.
extern const char* const kTopologyExamples;

// Throws Error naming what is missing or wrong.
TopologyFile described_topology(const std::string& text);

} // namespace plumb::network
