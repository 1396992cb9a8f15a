// Where each CPU sits: package, NUMA node, last-level cache, core. Read with hwloc from this machine, from an XML
// file (hwloc's lstopo --of xml, or the one kept in a run directory) or from a synthetic description.
#pragma once

#include <string>
#include <vector>

namespace plumb::platform {

// All numbers but `cpu` and `node` are hwloc's logical indices, unique on the machine; -1: the machine does not
// report it. Two CPUs share a core, cache or package if the numbers agree.
struct CpuPlace {
    int cpu = 0;      // the operating system's number
    int package = -1;
    int node = -1;    // the operating system's number of the NUMA node
    int l3 = -1;      // the outermost cache shared by more than one core, L3 where there is one
    int core = -1;
    int sibling = 0;  // position among the core's hardware threads

    bool operator==(const CpuPlace&) const = default;
};

struct Topology {
    std::vector<CpuPlace> cpus; // in hwloc's logical order: neighbours are close
    int package_count = 0, node_count = 0, core_count = 0;
    std::string source; // "this machine", the name of the file, or the synthetic description

    const CpuPlace* find(int cpu) const; // null: no such CPU
};

// Throw plumb::Error when hwloc cannot read the source. Offline CPUs and CPUs forbidden to us are included.
Topology live_topology();
Topology topology_from_file(const std::string& xml_file);
Topology topology_from_xml(const std::string& xml);
Topology topology_from_synthetic(const std::string& description); // e.g. "pack:2 numa:2 l3:1 core:4 pu:2"

// hwloc's XML of this machine, small enough to be kept with a run; "" when it cannot be read.
std::string live_topology_xml();

} // namespace plumb::platform
