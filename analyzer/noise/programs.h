// Which programs outside the run took a CPU away from it. The kernel says when threads of the run lost a CPU, and how much CPU
// time each other process used between two looks at it; that both happened in the same intervals connects them.
#pragma once

#include "model/run.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace plumb::noise {

struct LostCpu { // a preemption by nobody of the run
    int cpu = -1;
    uint64_t begin_ns = 0, end_ns = 0;
};

// Who took one CPU, and when.
struct CpuTakers {
    static constexpr uint32_t kNobody = UINT32_MAX; // that is known
    struct Interval {
        uint64_t begin_ns = 0, end_ns = 0;
        uint32_t taker = kNobody; // index into `takers`
    };
    // Processes, as indices into Host::others, those that took most first: of one program, or of several that cannot be
    // distinguished.
    std::vector<std::vector<size_t>> takers;
    std::vector<Interval> intervals; // all the lost time, by begin; they do not overlap

    uint32_t taker_at(uint64_t time_ns) const;
};

// By CPU. Losses that go with the CPU time of one program alone are its own (match_programs.h). The rest is put down to all other
// programs that account for it; those with less than a tenth of the most are left out. Nobody is named where they account for less
// than half.
std::map<int, CpuTakers> takers_by_cpu(const model::Host& host, std::vector<LostCpu> lost);

} // namespace plumb::noise
