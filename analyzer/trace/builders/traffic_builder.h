// The streaming loops of one model::Process under construction.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

class TrafficBuilder {
  public:
    explicit TrafficBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // Times are the run's. The streams of a loop come before its bursts.
    void take(const MemoryStream& record, uint64_t first_ns, uint64_t last_ns, Allowance& allowance);
    void take(const TrafficBurst& record, uint64_t begin_ns, uint64_t end_ns, Allowance& allowance);

    void end_file(); // numbers of loops are private to their file
    void finish();                      // brings it into the model's order

  private:
    model::Process& process_;
    std::unordered_map<uint32_t, uint32_t, MixedHash> loops_; // by number
    std::vector<uint32_t> after_; // by loop: the number of the one before it
};

} // namespace plumb::trace
