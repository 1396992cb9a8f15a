// How perf_event_open is asked for an event: the kernel's own number, else that of the CPU, which libpfm knows by name.
#pragma once

#include "record/counters/counter_event.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plumb::record {

struct EventCoding {
    uint32_t type = 0;
    uint64_t config = 0, config1 = 0, config2 = 0; // as in perf_event_attr
};

// Nothing: the kernel has no such event, and libpfm none of this CPU or is not there. It is loaded when the first event is asked for
// that the kernel has not: 5 ms. Of one thread.
std::optional<EventCoding> coding_of(const CounterEvent& event);

// What was found out with one libpfm is not true of another, nor without it.
std::string coding_identity();

} // namespace plumb::record
