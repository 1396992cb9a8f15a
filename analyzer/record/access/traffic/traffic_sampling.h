// What the threads of the run move through memory. Threads whose time samples stand in walks over arrays are looked at
// closely now and then: for some milliseconds each is sampled so densely that the distance of two samples is the way that
// its streams came forward. After the run, threads of plumb show what the same CPUs can move (MemoryStream, TrafficBurst and
// BandwidthRoof records).
#pragma once

#include "record/access/sampling/access_sampling.h"
#include "record/access/traffic/stream_table.h"
#include "record/calibrate/calibration.h"
#include "record/perf/perf_ring.h"
#include "record/run/node_trace_writer.h"
#include "support/xorshift.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::record {

class TrafficSampling {
  public:
    explicit TrafficSampling(AccessSampling& loops, uint64_t begin_ns)
        : loops_(loops), begin_ns_(begin_ns), next_ns_(begin_ns + kFirst_ns) {}

    // An access that was sampled. About 20 ns.
    void take(const SampledAccess& access);

    // Begins a burst or ends the one under way, when it is time to; the samples so far should have been taken.
    void look(uint64_t now_ns);
    // UINT64_MAX: nothing streams, so that nobody need wake up for it.
    uint64_t next_ns() const { return rings_.empty() && walkers_.empty() ? UINT64_MAX : next_ns_; }

    void forget(uint32_t pid); // it ended: nothing more can come

    uint64_t samples() const { return samples_; } // of bursts: they cost the target as others do

    // Measures and appends. Once, when the program has ended: takes a second at most, and nothing where nothing streams.
    // `sharers`: recorders on this machine; each sees its own rank alone.
    void write(NodeTraceWriter& file, uint64_t sharers, Calibration& calibration);

  private:
    static constexpr uint64_t kFirst_ns = 50'000'000;
    struct Walker {
        uint32_t pid = 0;
        uint64_t last_ns = 0;
    };
    bool walks_enough() const; // for its traffic to be worth anything
    void begin(uint64_t now_ns);
    void end(uint64_t now_ns);

    AccessSampling& loops_;
    const uint64_t begin_ns_;
    uint64_t next_ns_;
    std::unordered_map<uint32_t, Walker> walkers_; // by tid
    std::vector<std::pair<uint32_t, PerfRing>> rings_; // by tid, of the burst under way; empty: there is none
    Xorshift random_;
    uint64_t burst_begin_ns_ = 0, period_ns_ = 0, bursts_ = 0, samples_ = 0, spent_ns_ = 0;
    uint64_t fruitless_ = 0; // bursts in a row that found nothing that streams
    uint64_t walked_ns_ = 0, total_ns_ = 0; // of sampled accesses
    std::string why_not_; // the last burst could not look at a thread
    StreamTable table_;
};

} // namespace plumb::record
