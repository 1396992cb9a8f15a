// The OpenMP regions and waits of one model::Process under construction: merges the records of its threads by place in the code.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace plumb::trace {

class OpenMpBuilder {
  public:
    explicit OpenMpBuilder(model::Process& process) : process_(process) {} // outlives the builder

    // Threads and paths are indexes into the process's own lists. Records come in any order.
    void take(const OmpRuntime& record, std::string name);
    void take(const OmpRegion& record, uint32_t thread, uint32_t path, Allowance& allowance);
    void take(const OmpPart& record, uint32_t thread, Allowance& allowance);
    void take(const OmpWait& record, uint32_t thread, uint32_t path, Allowance& allowance);

    // Converts ticks to nanoseconds and puts everything in order.
    void finish();

  private:
    template <class Record> struct Taken {
        Record record;
        uint32_t thread, path;
    };
    using RegionKey = std::tuple<uint64_t, uint64_t>; // call site, function
    bool has_room(uint64_t bytes, Allowance& allowance);
    uint64_t ns(uint64_t ticks) const;
    model::OmpRegion& region(const RegionKey& key);
    void add(const Taken<OmpRegion>& taken);
    void add(const Taken<OmpPart>& taken);
    void add(const Taken<OmpWait>& taken);

    model::Process& process_;
    model::OpenMp openmp_;
    double ns_per_tick_ = 0; // 0: not known
    std::vector<Taken<OmpRegion>> regions_;
    std::vector<Taken<OmpPart>> parts_;
    std::vector<Taken<OmpWait>> waits_;
    std::map<RegionKey, size_t> region_at_;
    std::map<std::tuple<uint32_t, uint64_t, uint64_t, RegionKey>, size_t> wait_at_;
};

} // namespace plumb::trace
