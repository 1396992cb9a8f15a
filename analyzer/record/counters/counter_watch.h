// Counts the events that can be believed here over the program and all that it starts: each group for a part of the run, in turns.
// On request alone: a program that counts by itself would find its counters shared, and read too low counts. Used by one thread.
#pragma once

#include "record/counters/countable_groups.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace plumb::record {

class CounterWatch {
  public:
    // For `pid`, which has not yet exec'd its program. What works here is tested now, or known from an earlier run.
    CounterWatch(NodeTraceWriter& file, platform::MachineCache& cache, int pid);

    // Ends a slice if it is due. A slice is so long that reading and changing the counters takes the recorder at most 0.3 % of it.
    void look(uint64_t now_ns);
    uint64_t next_look_ns() const { return next_ns_; } // UINT64_MAX: nothing is counted

    // Once, when the program has ended: the last slice, and evidence "pmu" and "kernel-events".
    void finish(uint64_t now_ns);

  private:
    struct Turn {
        CountableGroup* counted = nullptr;
        std::vector<CounterValue> before; // when its slice began
    };
    void begin_slice(uint64_t now_ns);
    void end_slice(uint64_t now_ns);
    void write(const Turn& turn, const std::vector<CounterValue>& values, uint64_t now_ns);

    NodeTraceWriter& file_;
    const int pid_;
    CountableGroups countable_;
    std::vector<Turn> rotated_; // hardware: one at a time
    std::vector<Turn> always_;  // software
    size_t current_ = 0;
    uint64_t begin_ns_ = 0, slice_ns_ = 0, next_ns_ = UINT64_MAX;
    std::set<std::string> shared_, unread_; // events of which a slice was left out
};

} // namespace plumb::record
