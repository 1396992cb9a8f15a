// Counts the events that can be believed here over the program and all that it starts: each group for a part of the run, in turns.
// On request alone: a program that counts by itself would find its counters shared, and read too low counts. Used by one thread.
#pragma once

#include "platform/machine_cache.h"
#include "record/counters/counter_group.h"
#include "record/counters/self_test.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
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
    struct Counted {
        std::unique_ptr<CounterGroup> group;
        std::vector<const CounterEvent*> events;
        uint32_t number = 0; // in the trace
        bool by_papi = false;
        std::vector<CounterValue> before; // when its slice began
    };
    void count_hardware(const std::vector<int>& allowed, int error); // of opening a counter; 0: none
    void count_software(const std::vector<int>& allowed);
    void begin(CounterSource& source, const TestedGroup& tested, bool by_papi);
    void note(const CounterSource& source, const TestedGroup& tested);
    std::vector<TestedGroup> tested_groups(CounterSource& source, const std::string& kept_as, std::pair<int, int> cpus);
    void begin_slice(uint64_t now_ns);
    void end_slice(uint64_t now_ns);
    void write(const Counted& counted, const std::vector<CounterValue>& values, uint64_t now_ns);
    void write_evidence();

    NodeTraceWriter& file_;
    platform::MachineCache& cache_;
    const int pid_;
    std::vector<std::unique_ptr<CounterSource>> sources_; // outlive their groups
    std::vector<Counted> rotated_;                        // hardware: one at a time
    std::vector<Counted> always_;                         // software
    size_t current_ = 0;
    uint64_t begin_ns_ = 0, slice_ns_ = 0, next_ns_ = UINT64_MAX;
    std::set<std::string> believed_, shared_, unread_;    // events that count, and where a slice of them was left out
    std::vector<std::pair<std::string, std::string>> refused_; // event, "source: why"
    std::vector<std::string> used_;                       // names of sources
    std::string software_why_;
    bool no_counters_ = false, forbidden_ = false, no_papi_ = false;
};

} // namespace plumb::record
