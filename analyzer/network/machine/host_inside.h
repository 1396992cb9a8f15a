// What the ranks of a host share inside it: last-level caches, NUMA nodes, packages. The smallest that several cores share is a
// node of this network, so a message between ranks that share a cache passes no link; one to another cache of the same NUMA node
// two, and so on outwards, to another host last.
#pragma once

#include "network/machine/network.h"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace plumb::network {

struct CacheGroup { // cores that share their last-level cache; numbers of hwloc, -1: the host does not report it
    std::string host;
    int package = -1, numa_node = -1, cache = -1;

    auto operator<=>(const CacheGroup&) const = default;
};

// "node7 package 0 NUMA node 1 cache 3".
std::string name_of(const CacheGroup& group);

// `groups`: of all hosts, each as often as wanted. Levels that divide nothing anywhere are left out.
std::unique_ptr<Network> inside_of_hosts(std::vector<CacheGroup> groups);

} // namespace plumb::network
