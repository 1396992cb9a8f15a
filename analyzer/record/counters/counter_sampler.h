// Where in the code the events of the hardware happen, by samples: one set of them at a time, in turns of its own; and page faults, all
// the time. Used by one thread.
#pragma once

#include "platform/machine_cache.h"
#include "record/counters/chosen_samples.h"
#include "record/counters/event_sampling.h"
#include "record/perf/fault_sampler.h"
#include "record/perf/profile.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace plumb::record {

class CounterSampler {
  public:
    // For `pid`, which has not yet exec'd its program, on `cpus`. What of the hardware's events can be sampled here is tested now, or
    // known from an earlier run; nothing is asked for where `has_counters` is false. `group`: number of its CounterSlices.
    CounterSampler(NodeTraceWriter& file, Profile& profile, platform::MachineCache& cache, int pid, const std::vector<int>& cpus,
                   bool has_counters, uint32_t group, uint64_t most_bytes);

    bool has_turns() const { return !sets_.empty(); }
    void begin_turn(uint64_t now_ns);
    void end_turn(uint64_t now_ns); // the next one is of the next set

    // Takes what the rings hold. `all`: samples of this very moment as well.
    void settle(bool all);
    std::vector<int> poll_fds() const; // readable when a ring is half full

    void write_evidence(); // "counter-samples"; once, at the end

  private:
    struct Ringed {
        SampledEvent sampled;
        EventRings rings;
        EventRings::Total before; // of its turn
        bool is_retired = false;  // not enabled any more; its rings stay, as others poll them
    };
    using Set = std::vector<Ringed>; // the first one is never retired
    using Place = std::tuple<const CounterEvent*, uint32_t, trace::NodeId>; // with the thread and the path
    struct Samples {
        uint32_t pid = 0;
        uint64_t count = 0, period = 0, first_ns = 0, last_ns = 0;
    };
    std::vector<std::vector<SampledEvent>> tested_sets(platform::MachineCache& cache, const std::vector<int>& cpus);
    void open(const std::vector<SampledEvent>& events, int pid, const std::vector<int>& cpus);
    void take(const Ringed& ringed, const PerfRecord& record);
    bool end_event(Ringed& ringed, uint64_t now_ns);
    void keep(const Place& place, const Samples& samples);
    // Else it is of a process that is not known yet, or there was no room.
    static bool is_known(const Place& place) { return std::get<2>(place) != 0; }

    NodeTraceWriter& file_;
    Profile& profile_;
    const uint32_t pid_, group_;
    const uint64_t most_bytes_;
    std::vector<Set> sets_;
    size_t current_ = 0;
    uint64_t begin_ns_ = 0, bytes_ = 0, left_out_ = 0;
    struct Moment {
        const CounterEvent* event;
        uint32_t pid, tid;
        uint64_t time_ns;
    };
    std::map<Place, Samples> taken_; // of a turn that may yet prove to have shared a counter
    std::vector<Moment> moments_;    // likewise
    ChosenSamples chosen_;
    FaultSampler faults_;
    std::map<Place, trace::CounterSite*> sites_;
    std::map<std::string, std::string> refused_; // by event: why
};

} // namespace plumb::record
