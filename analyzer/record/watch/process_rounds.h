// Rounds through the living processes of the run: ten times a second in a young run, once in an old one, less often where a
// round takes long. Each process has one ProcessMemory record, which is updated from round to round.
#pragma once

#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <functional>
#include <unordered_map>

namespace plumb::record {

class ProcessRounds {
  public:
    // Reads what a process's record holds. `record` is null until the process has one.
    using Look = std::function<void(const Process&, trace::ProcessMemory*& record)>;

    // A round may take 1/`cost_factor` of the time between two rounds.
    ProcessRounds(uint64_t begin_ns, uint64_t cost_factor) : begin_ns_(begin_ns), next_ns_(begin_ns), cost_factor_(cost_factor) {}

    // Looks at all living processes that do not sleep for good, if a round is due. What happens in a process after the last
    // look at it is not seen.
    void look(ProcessTable& processes, uint64_t now_ns, const Look& look);
    uint64_t next_ns() const { return next_ns_; }

  private:
    struct Known {
        uint64_t generation = 0; // of the process
        trace::ProcessMemory* record = nullptr;
    };
    uint64_t begin_ns_, next_ns_, cost_factor_;
    std::unordered_map<uint32_t, Known> known_; // living, by pid
};

} // namespace plumb::record
