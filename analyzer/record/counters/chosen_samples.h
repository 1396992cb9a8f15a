// When events happened: of the samples of each event a bounded number, each sample as likely to be among them as any other (reservoir
// sampling: Vitter, "Random Sampling with a Reservoir", 1985, algorithm R). Used by one thread.
#pragma once

#include "record/counters/counter_event.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace plumb::record {

class ChosenSamples {
  public:
    static constexpr size_t kMostOfEvent = 2048; // a share of a half is then known to 1.1 %

    explicit ChosenSamples(NodeTraceWriter& file) : file_(file) {} // `file` outlives this

    void offer(const CounterEvent& event, uint32_t pid, uint32_t tid, uint64_t time_ns);

  private:
    struct Choice {
        uint64_t offered = 0;
        std::vector<trace::CounterSample*> records;
    };

    NodeTraceWriter& file_;
    std::map<const CounterEvent*, Choice> chosen_;
    std::mt19937_64 random_; // the same in each run: nothing that is sampled depends on it
};

} // namespace plumb::record
