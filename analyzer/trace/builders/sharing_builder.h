// The cache lines that threads of one model::Process share, under construction.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <unordered_map>

namespace plumb::trace {

class SharingBuilder {
  public:
    explicit SharingBuilder(model::Process& process) : process_(process) {}

    void take(const SharedLine& record, Allowance& allowance);
    // Threads and paths are indexes into the process's; times are the run's. Uses of unknown lines are left out.
    void take(const LineUse& record, uint32_t thread, uint32_t path, uint64_t first_ns, uint64_t last_ns,
              Allowance& allowance);

    void end_file() { lines_.clear(); } // uses name lines of their own file

  private:
    model::Process& process_;
    std::unordered_map<uint64_t, uint32_t, MixedHash> lines_; // by address, index into Process::shared_lines
};

} // namespace plumb::trace
