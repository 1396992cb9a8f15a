// The data caches of one CPU, as the kernel describes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::platform {

struct CacheLevel {
    uint32_t level = 0; // 1, 2, ...
    uint32_t sets = 0, ways = 0;
    uint32_t line_bytes = 0;
    std::vector<int> cpus = {}; // that share it; empty: not known
    uint64_t bytes() const { return uint64_t{sets} * ways * line_bytes; }
};

// Data and unified caches, by level; those of which the kernel does not say all are left out. `root`: "" for this
// machine, else a folder with a copy of its /sys. The files are those of ABI/testing/sysfs-devices-system-cpu.
std::vector<CacheLevel> read_cache_levels(const std::string& root, int cpu);

// How accesses `stride` bytes apart fall into the sets of a cache that takes the set from the address itself.
struct SetUse {
    uint64_t lines = 0;     // different lines that are touched
    uint64_t sets = 0;      // different sets that they fall into
    uint64_t left_over = 0; // lines beyond what the ways of their set hold
};
SetUse set_use(const CacheLevel& cache, uint64_t stride, uint64_t accesses);

} // namespace plumb::platform
