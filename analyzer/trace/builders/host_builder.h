// One model::Host under construction: what a node's recorder says about the machine.
#pragma once

#include "model/run.h"
#include "trace/builders/noise_builder.h"
#include "trace/context/file_context.h"

#include <plumb/trace_format.h>

#include <map>
#include <string>
#include <utility>

namespace plumb::trace {

class HostBuilder {
  public:
    explicit HostBuilder(model::Host& host) : host_(host), noise_(host.noise) {}

    void take(const CpuInterval& record, FileContext& context);
    void take(const NodeMemory& record, FileContext& context);
    void take(const OtherProcess& record, FileContext& context);
    void take(const OtherActivity& record, FileContext& context);
    void take(const InterruptSource& record, FileContext& context);
    void take(const RecorderCost& record, FileContext& context);
    void take(const Topology& record, FileContext& context);
    void take(const AccessPenalty& record, FileContext& context);
    void take(const EventCount& record, FileContext& context);
    void take(const CounterSlice& record, FileContext& context);
    void take(const NumaNode& record, FileContext& context);
    void take(const HugePages& record, FileContext& context);
    void take(const BandwidthRoof& record, FileContext& context);
    void take(const LineTransfer& record, FileContext& context);
    template <class Record>
        requires requires(NoiseBuilder& noise, const Record& record, FileContext& context) { noise.take(record, context); }
    void take(const Record& record, FileContext& context) {
        noise_.take(record, context);
    }

    void finish(); // brings it into the model's order
    uint64_t last_ns() const { return last_ns_; } // last sign of life in what was taken

  private:
    uint64_t alive(uint64_t time_ns);
    void place_activities();

    model::Host& host_;
    NoiseBuilder noise_;
    bool has_topology_ = false;
    bool allows_all_ = false;
    uint64_t last_ns_ = 0;
    std::map<std::pair<uint32_t, std::string>, size_t> others_; // the latest of a pid and name
    std::map<std::pair<int, std::string>, size_t> interrupts_;
    std::vector<std::pair<uint32_t, model::OtherProcess::Activity>> activities_; // with the pid
};

} // namespace plumb::trace
