// What CPUs share on their way to memory: the core, the last cache, the NUMA node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::platform {

struct CpuPath {
    int cpu = 0;
    int core = 0;  // the lowest CPU of the same core
    int cache = 0; // the lowest CPU that shares the last cache
    int node = 0;  // 0 where the kernel knows none
    uint64_t cache_bytes = 0; // of the last cache; 0: not known

    bool operator==(const CpuPath&) const = default;
};

// `root`: "" for this machine, else a folder with a copy of its /sys.
std::vector<CpuPath> read_cpu_paths(const std::string& root, const std::vector<int>& cpus);

// In an order in which the first n, for every n, share as little as can be: cores last of all, then nodes, then caches.
std::vector<CpuPath> spread(std::vector<CpuPath> cpus);

} // namespace plumb::platform
