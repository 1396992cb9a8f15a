// The memory part of one model::Process under construction.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/mixed_hash.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace plumb::trace {

class MemoryBuilder {
  public:
    explicit MemoryBuilder(model::Process& process) : process_(process) {}

    // Threads and paths are indexes into the process's; times are the run's.
    void take(const MemoryArea& record, std::string path, Allowance& allowance);
    void take(const MemoryTraffic& record, uint32_t thread, uint32_t path, uint64_t first_ns, uint64_t last_ns,
              Allowance& allowance);
    void take(const MemoryEpoch& record, uint32_t thread, uint64_t begin_ns, uint64_t end_ns, Allowance& allowance);
    void take(const FirstTouch& record, uint32_t thread, uint32_t path, uint64_t first_ns, uint64_t last_ns,
              Allowance& allowance);
    void take(const PageScatter& record, std::string path, std::string why_not_timed, uint64_t first_ns, uint64_t last_ns,
              Allowance& allowance);
    void take(const LargeMap& record, uint32_t path, uint64_t time_ns, uint64_t until_ns, Allowance& allowance);
    void take(const LargeUnmap& record, uint64_t time_ns);

    void end_file() { areas_.clear(); } // ids of areas are private to their file
    void finish();                      // brings it into the model's order

  private:
    uint32_t area(uint32_t id) const;

    model::Process& process_;
    std::unordered_map<uint32_t, uint32_t, MixedHash> areas_;       // by id
    std::unordered_map<uint64_t, uint32_t, MixedHash> living_blocks_; // by start
};

} // namespace plumb::trace
