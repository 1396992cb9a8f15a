// Reads how a machine is wired from whichever kind of file says it.
#pragma once

#include "network/machine/network.h"

#include <memory>
#include <string>

namespace plumb::network {

struct TopologyFile {
    std::unique_ptr<Network> network;
    double link_bytes_per_s = 0; // of one cable in one direction; 0: the file does not say
    double hop_s = 0;            // of a message, for each link; 0: the file does not say
    std::vector<std::string> notes; // what was left out, and assumed
};

// Which kind a file is follows from what it contains: plumb-topology/1 (JSON: torus, dragonfly, switches), Slurm's topology.conf, the output of
// `scontrol show topology` and of ibnetdiscover. Throws Error naming the file, the line where there is one, and what to do.
TopologyFile read_topology(const std::string& path);

// The same of a text, which `name` stands for in messages.
TopologyFile parse_topology(const std::string& text, const std::string& name);

} // namespace plumb::network
