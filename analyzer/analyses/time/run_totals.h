// Sums over a whole run that several diagnoses and metrics need.
#pragma once

#include "model/run.h"

#include <cstdint>

namespace plumb {

struct RunTotals {
    double wall_s = 0;
    double cpu_s = 0;    // on a CPU, all threads (the scheduler's own clock; samples where that is missing)
    double user_s = 0, system_s = 0;
    double run_delay_s = 0; // runnable but waiting for a CPU, all threads
    uint64_t voluntary_switches = 0, involuntary_switches = 0, migrations = 0;
    uint64_t minor_faults = 0, major_faults = 0;
    uint64_t peak_rss_bytes = 0; // of the largest process
    uint64_t samples = 0, kernel_samples = 0;
    double sampled_s = 0; // CPU time that the samples stand for
    size_t threads = 0, processes = 0;
    size_t usable_cpus = 0; // of all hosts
    // Threads that run, or would if they had a CPU, on average over the run; at least 1.
    double concurrency = 1;

    // Wall seconds that `share` of all CPU time stands for, where all threads carry the same share: a thread that has
    // to wait for CPUs waits that much longer for them.
    double wall_of_share(double share) const { return share * (cpu_s + run_delay_s) / concurrency; }
};

RunTotals totals_of(const model::Run& run);

// Of the run's wall time, what looks at blocked threads followed back to a thread or a wait. Looks begin after the run did and end
// before it: less than the run's.
double followed_wall_ns(const model::Run& run);

} // namespace plumb
