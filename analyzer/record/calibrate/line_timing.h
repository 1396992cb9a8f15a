// What an access costs on this machine when another CPU uses the same cache line meanwhile, against one to a line of its
// own: some milliseconds for one kind of access.
#pragma once

#include <cstdint>

namespace plumb::record {

enum class LineForm { load, store, update, locked };

inline constexpr unsigned kMostLineWords = 3; // two threads, eight words a line

// What both threads do again and again.
struct LineTask {
    LineForm form = LineForm::load;
    unsigned words = 1; // that each of them uses
    unsigned work = 0;  // steps of a calculation between the accesses, of some nanoseconds each
};

struct LineTimes { // of one access
    uint64_t own_ps = 0, contended_ps = 0; // 0: could not be timed
    double share = 0;                      // of the threads' time, while the line is contended
};

// Two threads on these CPUs do the task on words of one line and of two lines in turn (of loads, the other thread updates
// its words). Medians of CPU time of an access, without the calculations. Nothing where this process may not run on both
// CPUs, and where the two threads did not get to run at the same time. `most_ns`: CPU time of both that it may take.
LineTimes time_line_task(int cpu, int other_cpu, LineTask task, uint64_t most_ns);

} // namespace plumb::record
