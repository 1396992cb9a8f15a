// Counts the events that can be believed here over the program and all that it starts: each group for a part of the run, in turns,
// between which events are sampled. On request alone: a program that counts by itself would find its counters shared, and read too
// low counts. Used by one thread.
#pragma once

#include "record/counters/countable_groups.h"
#include "record/counters/counter_sampler.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace plumb::record {

class CounterWatch {
  public:
    // For `pid`, which has not yet exec'd its program. What works here is tested now, or known from an earlier run.
    CounterWatch(NodeTraceWriter& file, platform::MachineCache& cache, int pid);

    // Where in the code they happen, too; before the program is exec'd. On `cpus`; at most `most_bytes` of the file.
    void sample(Profile& profile, const std::vector<int>& cpus, uint64_t most_bytes);
    void settle(bool all) { // what the rings hold; `all`: of this very moment as well
        if (sampler_)
            sampler_->settle(all);
    }
    std::vector<int> poll_fds() const { return sampler_ ? sampler_->poll_fds() : std::vector<int>(); }

    // Ends a slice if it is due. A slice is so long that reading and changing the counters takes the recorder at most 0.3 % of it.
    void look(uint64_t now_ns);
    uint64_t next_look_ns() const { return next_ns_; } // UINT64_MAX: nothing is counted

    // Once, when the program has ended: the last slice, and evidence "pmu", "kernel-events" and "counter-samples".
    void finish(uint64_t now_ns);

  private:
    struct Turn {
        CountableGroup* counted = nullptr;
        std::vector<CounterValue> before; // when its slice began
    };
    void begin_slice(uint64_t now_ns);
    void end_slice(uint64_t now_ns);
    void begin_group(Turn& turn);
    void end_group(Turn& turn, bool goes_on, uint64_t now_ns);
    void write(const Turn& turn, const std::vector<CounterValue>& values, uint64_t now_ns);

    NodeTraceWriter& file_;
    platform::MachineCache& cache_;
    const int pid_;
    CountableGroups countable_;
    std::optional<CounterSampler> sampler_;
    std::vector<Turn> rotated_; // hardware: one at a time
    std::vector<Turn> always_;  // software
    size_t current_ = 0;
    bool is_sampling_ = false;  // every second turn, else the current group counts
    uint64_t begin_ns_ = 0, slice_ns_ = 0, next_ns_ = UINT64_MAX;
    std::set<std::string> shared_, unread_; // events of which a slice was left out
};

} // namespace plumb::record
