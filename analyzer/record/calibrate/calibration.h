// What is measured on this machine for the sake of a run, and how long that may take: no longer than 1 % of the CPU time that
// the program took, and only once where it stays the same until the machine starts anew.
#pragma once

#include "platform/machine_cache.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <linux/perf_event.h>

namespace plumb::record {

class Calibration {
  public:
    explicit Calibration(platform::MachineCache cache) : cache_(std::move(cache)) {}

    // What the program took so far: at the end all of it, so that more can be measured then.
    void run_took(uint64_t cpu_ns) { run_cpu_ns_ = cpu_ns; }

    // CPU time that measurements may still take.
    uint64_t left_ns() const;

    // What one sample of such an event costs the thread that it is taken of: as an earlier run found it, or measured and
    // kept for later ones. 0: neither, it is not known. `clock`: see sample_cost.h.
    uint64_t sample_cost_ns(const perf_event_attr& event, uint64_t (*clock)() = monotonic_ns);

    // See yield_timing.h. From the samples of earlier runs, and some more as long as these are few.
    uint64_t yield_kernel_milli();

    platform::MachineCache& cache() { return cache_; }
    void save() { cache_.save(); } // once, at the end of the run

  private:
    platform::MachineCache cache_;
    uint64_t run_cpu_ns_ = 0, spent_ns_ = 0;
};

} // namespace plumb::record
