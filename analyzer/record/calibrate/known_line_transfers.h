// What accesses to contended cache lines cost, for the lines of one run: timed where no earlier run on this machine has done
// so within the hour, as far as the run's room for measurements goes.
#pragma once

#include "platform/machine_cache.h"
#include "record/calibrate/line_timing.h"

#include <plumb/trace_format.h>

#include <functional>

namespace plumb::record {

// What is to be timed.
struct LineAccesses {
    bool load = false, store = false, update = false, locked = false;
    unsigned words = 1; // that each thread uses
    // Of a thread's time, what it spends on such accesses while the line is contended. A thread that comes back without
    // pause uses the line many times before it loses it again; one that comes now and then has lost it each time.
    double share = 1;
    void add(uint16_t flags); // trace::AlignFlags of accesses
};

// Times one task, or says that there is no room for it (nothing timed).
using TimeLineTask = std::function<LineTimes(const LineTask&)>;

// First each form without pauses, then with more and more calculations in between, until the accesses take as little of the
// time as is wanted, or no room is left: what is missing then is found by a later run, and this one says less than the truth.
trace::LineTransfer known_line_transfers(platform::MachineCache& cache, int cpu, int other_cpu, const LineAccesses& accesses,
                                         uint64_t now_ns, const TimeLineTask& measure);

} // namespace plumb::record
