// The NUMA nodes of the machine as the kernel lists them: which CPUs and how much memory each has, and how far they are
// from one another. The root is "/sys" (and "/proc") except in tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::platform {

struct NumaNode {
    int node = 0;
    std::vector<int> cpus;      // empty: it has memory only
    uint64_t total_bytes = 0;   // 0: it has CPUs only
    std::vector<int> distances; // to all nodes in ascending order, 10: local; empty: the firmware does not report them

    bool operator==(const NumaNode&) const = default;
};

// By number; empty where the kernel knows no nodes (built without NUMA).
std::vector<NumaNode> read_numa_nodes(const std::string& sys_root);

// How many of them have memory.
size_t memory_node_count(const std::vector<NumaNode>& nodes);

// The kernel was started with numa=off: it takes the whole machine for one node.
bool numa_is_off(const std::string& proc_root);

// Pages are moved towards the CPUs that use them by the kernel itself.
bool balances_automatically(const std::string& proc_root);

} // namespace plumb::platform
