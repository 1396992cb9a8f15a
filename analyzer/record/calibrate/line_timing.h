// What an access costs on this machine when another CPU uses the same cache line meanwhile, against one to a line of its
// own: a calibration of some ten milliseconds.
#pragma once

#include <plumb/trace_format.h>

#include <cstdint>

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

// Two threads on these CPUs do the same, again and again, on words of one line and of two lines in turn (of loads, the
// other thread updates its words), and calculate in between, so long that the accesses take about as much of the time as
// wanted. Medians of CPU time of an access, without the calculations. All 0 where this process may not run on both CPUs,
// and where the two threads did not get to run at the same time.
trace::LineTransfer time_line_transfers(int cpu, int other_cpu, const LineAccesses& accesses);

} // namespace plumb::record
