// Counters of the kernel's perf events: no library. Used by one thread.
#pragma once

#include "record/counters/counter_group.h"

namespace plumb::record {

// Events that count together or not at all, so that their relations hold; those of software beside them always count.
class PerfSource : public CounterSource {
  public:
    std::string name() const override { return "perf"; }
    bool knows(const CounterEvent& event) const override { return event.perf_type != kNoPerf; }
    OpenedGroup open(std::span<const CounterEvent* const> events, pid_t pid) override;
};

// perf_event_open for `pid` and all that it starts, in user mode unless `with_kernel`, in the group of `leader` (-1: none), not
// counting yet. Returns the descriptor, or -1 and errno.
int open_counter(uint32_t type, uint64_t config, pid_t pid, int leader, bool with_kernel);

} // namespace plumb::record
