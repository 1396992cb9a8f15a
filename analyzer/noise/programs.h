// Which programs outside the run took a CPU away from it. The kernel says when threads of the run lost a CPU, and how much CPU
// time each other process used between two looks at it; that both happened in the same intervals connects them.
#pragma once

#include "model/run.h"

#include <cstdint>
#include <map>
#include <vector>

namespace plumb::noise {

struct LostCpu { // a preemption by nobody of the run
    int cpu = -1;
    uint64_t begin_ns = 0, end_ns = 0;
};

struct ProgramShare {
    size_t other = 0;  // index into Host::others
    double taken_s = 0; // of the time lost on this CPU
};

// By CPU the processes that account for the time lost there, the most first; those with less than a tenth of the most are left
// out. None for a CPU on which they account for less than half of it.
std::map<int, std::vector<ProgramShare>> programs_by_cpu(const model::Host& host, std::vector<LostCpu> lost);

} // namespace plumb::noise
