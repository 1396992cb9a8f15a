// One event, sampled, on each of some CPUs with a ring for its samples, of a process and all its descendants.
#pragma once

#include "record/perf/perf_record.h"
#include "record/perf/perf_ring.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace plumb::record {

class EventRings {
  public:
    // Returns 0 or an errno: then there are no rings. CPUs that went offline are left out. attributes.sample_type: at least
    // kSampleFields.
    int open(const perf_event_attr& attributes, int pid, const std::vector<int>& cpus, size_t pages);

    bool works() const { return !rings_.empty(); }
    const std::vector<PerfRing>& rings() const { return rings_; } // for poll: readable as the attributes say
    void enable(bool on);

    // Hands out the samples that were read at the last call, so that whoever looks at the processes at the same rhythm
    // knows them by now; `all`: those of this moment as well.
    void drain(const std::function<void(const PerfRecord&)>& take, bool all);

    // So far, where attributes.read_format has the two times: how many events there were; for how long threads were to be
    // looked at, and how long they were, both summed over threads. Nothing: it cannot be read.
    struct Total {
        uint64_t events = 0, enabled_ns = 0, running_ns = 0;
    };
    std::optional<Total> total() const;

  private:
    void hand_out(const std::function<void(const PerfRecord&)>& take);

    std::vector<PerfRing> rings_;
    std::vector<char> bytes_; // read and not yet handed out
    uint64_t fields_ = 0;
    unsigned register_count_ = 0;
};

} // namespace plumb::record
