// Phases in which one thread of a process computes alone, while its other threads, which work together in other phases, wait.
//
// Which code is serial is decided by function: nearly all its time is of one thread, and nearly all of it was alone. A thread
// that works longer than the others of its pool is in the same functions as they are, which is unequal work and no serial
// phase. One that computes beside a team for as long as that works (a queue's slow end) is none either. Teams of OpenMP are
// left to what the shim knows of their regions. Threads that spin are on a CPU, and so hide what goes on beside them.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb {

struct SerialPhases { // of one thread
    uint32_t process = 0, thread = 0; // indexes
    double serial_s = 0;   // of the run's wall time, without what other threads wait for a lock meanwhile
    double parallel_s = 0; // of the process, with two or more threads active
    double cpus = 1;       // in use in those phases, on average
    double most_cpus = 1;  // the same, had each active thread a CPU: no more than the process may use
    double team = 0;       // threads that are active in them, on average
    // Of serial_s, time in which others may not have waited: they were woken and had no CPU, or waited for a disk.
    double doubtful_s = 0;
    uint64_t samples = 0;
    LineShares lines;
    std::map<std::string, double> functions; // seconds in user mode
};

// One for each process that has them, where they are at least a tenth of the run. Not thread-safe (`paths` remembers what it
// looked up).
std::vector<SerialPhases> serial_phases_of(model::CallPaths& paths);

} // namespace plumb
