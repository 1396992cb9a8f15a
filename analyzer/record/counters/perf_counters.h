// Counters of the kernel's perf events, in which libpfm is asked for names alone. Used by one thread.
#pragma once

#include "record/counters/counter_group.h"
#include "record/counters/event_coding.h"

namespace plumb::record {

// Events that count together or not at all, so that their relations hold; those of software beside them always count.
class PerfSource : public CounterSource {
  public:
    std::string name() const override { return "perf"; }
    bool knows(const CounterEvent& event) const override { return coding_of(event).has_value(); }
    OpenedGroup open(std::span<const CounterEvent* const> events, pid_t pid) override;
};

// perf_event_open for `pid` and all that it starts, in user mode unless `with_kernel`, in the group of `leader` (-1: none), not
// counting yet. Returns the descriptor, or -1 and errno.
int open_counter(const EventCoding& coding, pid_t pid, int leader, bool with_kernel);

} // namespace plumb::record
