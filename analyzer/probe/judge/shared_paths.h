// Which CPUs share a core, a cache or a path to memory, by how long they take to hand over a cache line and by how much two of
// them slow each other down. Pure: knows nothing of what the kernel says.
#pragma once

#include "platform/cpu_paths.h"
#include "probe/measured.h"
#include "statistics/spread.h"

#include <string>
#include <vector>

namespace plumb::probe {

struct PairFigures {
    int first = 0, second = 0;
    statistics::Spread handover_ns, compute_slowdown, read_slowdown; // count 0: not measured
};
PairFigures figures_of(const PairTurns& pair);

using CpuGroup = std::vector<int>; // sorted, two at least

struct CloseGroups { // CPUs that hand over lines in about the same time, and clearly faster than to those outside
    double slowest_ns = 0; // of the pairs within a group
    std::vector<CpuGroup> groups;
};

struct SharedPaths {
    std::vector<CpuGroup> cores;        // slow each other down when all of them calculate
    std::vector<CpuGroup> memory_paths; // slow each other down when all of them read memory
    std::vector<CloseGroups> caches;    // from the closest on; empty: all pairs are about alike, or there is one pair only
    size_t handovers = 0, computing = 0, reading = 0; // pairs that each of these is known of
};

// A slowdown counts if its whole interval is above kShares; a group of more than two CPUs must be one for nine tenths of its
// pairs that were measured.
inline constexpr double kShares = 1.25;
SharedPaths shared_paths(const std::vector<PairFigures>& pairs);

// Where the kernel says otherwise. Of caches only where handovers tell groups apart.
struct Disagreement {
    enum class What : uint8_t { core, cache };
    What what = What::core;
    int first = 0, second = 0;
    bool kernel_says_shared = false;
};
std::vector<Disagreement> disagreements(const SharedPaths& shared, const std::vector<PairFigures>& pairs,
                                        const std::vector<platform::CpuPath>& kernel);

} // namespace plumb::probe
