// The network of a job of which nothing is known but which ranks share a host.
#pragma once

#include "network/machine/network.h"

#include <memory>
#include <string>
#include <vector>

namespace plumb::network {

// Names that were given, each once, in their order.
std::vector<std::string> each_name_once(const std::vector<std::string>& names);

// All hosts at one switch: a message passes two links, or none within a host. `hosts`: each once.
std::unique_ptr<Network> one_switch(std::vector<std::string> hosts);

} // namespace plumb::network
