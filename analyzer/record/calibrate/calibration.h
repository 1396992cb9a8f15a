// What is measured on this machine for the sake of a run, and how long that may take: no longer than 1 % of the CPU time that
// the program took, and only once where it stays the same until the machine starts anew.
#pragma once

#include "platform/machine_cache.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <linux/perf_event.h>

namespace plumb::record {

// What the machine's other users may change is measured again after so long.
inline constexpr uint64_t kFreshFor_ns = 3'600'000'000'000;

class Calibration {
  public:
    explicit Calibration(platform::MachineCache cache) : cache_(std::move(cache)) {}

    // What the program took so far: at the end all of it, so that more can be measured then.
    void run_took(uint64_t cpu_ns) { run_cpu_ns_ = cpu_ns; }

    // CPU time that measurements may still take.
    uint64_t left_ns() const;

    // What one sample of such an event costs the thread that it is taken of: as an earlier run found it, or measured and
    // kept for later ones. 0: neither, it is not known. `is_over`: the program has ended, so that a few milliseconds are
    // spent on it in any case; while it runs, only where they suffice for a figure that can be kept.
    uint64_t sample_cost_ns(const perf_event_attr& event, bool is_over);

    // Measures something, and counts the CPU time of all threads of this process for it.
    template <class Work> auto spend(Work work) {
        const uint64_t begin_ns = own_cpu_ns();
        const auto result = work();
        spent_ns_ += own_cpu_ns() - begin_ns;
        return result;
    }

    // See yield_timing.h. From the samples of earlier runs, and some more as long as these are few.
    uint64_t yield_kernel_milli();

    platform::MachineCache& cache() { return cache_; }
    void save() { cache_.save(); } // once, at the end of the run

  private:
    platform::MachineCache cache_;
    uint64_t run_cpu_ns_ = 0, spent_ns_ = 0;
};

} // namespace plumb::record
