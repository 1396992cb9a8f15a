// What the kernel counts about where memory was allocated and moved to, since boot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace plumb::platform {

// By name: "node0:numa_miss" of a node's numastat, "pgmigrate_success" of the whole machine.
using MemoryCounters = std::map<std::string, uint64_t>;

// Of /proc/vmstat what is about nodes, migration and huge pages: numa_*, pgmigrate_* and thp_*, and thp_migration_* among them.
MemoryCounters parse_vmstat(std::string_view text);

// All counts of one node's numastat.
MemoryCounters parse_numastat(int node, std::string_view text);

// Both; what is not there is left out. `root`: "" for this machine, else a folder with a copy of its /proc and /sys.
MemoryCounters read_memory_counters(const std::string& root);

// What was counted in between; only what grew.
MemoryCounters difference(const MemoryCounters& before, const MemoryCounters& after);

} // namespace plumb::platform
