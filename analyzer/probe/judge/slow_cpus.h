// CPUs that are slower than the others of the machine, and whether they are slow themselves or others run on them. Pure.
#pragma once

#include "probe/measured.h"

#include <vector>

namespace plumb::probe {

struct SlowCpu {
    enum class Cause : uint8_t { others, itself, both };
    int cpu = 0;
    CpuTest test = CpuTest::compute;
    double slowdown = 1;         // by the wall clock, against the median of the others in the same rounds
    double low = 0, high = 0;    // its interval, see below
    double cpu_slowdown = 1;     // in CPU time: the CPU itself, what shares its core, caches and memory
    double share = 1;            // of the time that its thread had the CPU
    double share_of_others = 1;  // the same of the other CPUs' threads
    Cause cause = Cause::itself;
};

// At most one for each CPU and test, those that are slowest first. A CPU counts if the whole interval is beyond `limit` (0.1:
// slower by 10 %). The interval is so wide that in a machine whose CPUs are alike, and whose rounds do not depend on one
// another, one probe of twenty at most would find a CPU with a limit of 0. With fewer than rounds_needed() rounds there is
// none. Where others are the cause, they must have taken more of this CPU than of the rest in all tests together: beside an
// uneven load, some test is always the unluckiest.
std::vector<SlowCpu> slow_cpus(const std::vector<CpuTurns>& cpus, double limit);

} // namespace plumb::probe
