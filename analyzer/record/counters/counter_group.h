// Events that are counted together over a process and all that it starts, by whichever library: what perf and PAPI have in common.
#pragma once

#include "record/counters/counter_event.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace plumb::record {

struct CounterValue {
    int64_t count = 0; // since the group was opened
    // How long it was to count and how long it did, summed over threads. Nothing: the library does not say.
    std::optional<uint64_t> enabled_ns, running_ns;
};

class CounterGroup {
  public:
    virtual ~CounterGroup() = default; // stops counting
    // Empty, or why it does not count: the step, what came back. Both may be called again and again.
    virtual std::string start() = 0;
    virtual void stop() = 0;
    // Of all events, in their order. Nothing: it could not be read.
    virtual std::optional<std::vector<CounterValue>> read() = 0;
};

struct OpenedGroup {
    std::unique_ptr<CounterGroup> group; // null: it cannot be opened
    size_t refused = 0;                  // the first event that it cannot be opened with
    std::string why;                     // the step, and what came back
};

class CounterSource {
  public:
    virtual ~CounterSource() = default;
    virtual std::string name() const = 0; // "perf", "PAPI 7.0"
    virtual bool knows(const CounterEvent& event) const = 0;
    // For `pid` and all that it starts from now on; what it has started before is not counted. User mode alone.
    virtual OpenedGroup open(std::span<const CounterEvent* const> events, pid_t pid) = 0;
};

} // namespace plumb::record
