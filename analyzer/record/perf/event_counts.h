// Events that the kernel or the CPU counts over the whole process tree, read once at the end: unaligned accesses that
// the kernel had to fix up or emulate, and hardware counts of accesses across lines where the CPU offers them.
#pragma once

#include "record/run/node_trace_writer.h"

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct CountedEvent {
    std::string name; // the kernel's own
    uint32_t type = 0;
    uint64_t config = 0, config1 = 0, config2 = 0;
};

// alignment-faults and emulation-faults, where the kernel counts them. Not on x86: its kernel fixes up nothing, so that
// the events open but are always 0, at a cost to every new thread.
std::vector<CountedEvent> kernel_events();

// Events of the CPU's own counters about split or unaligned accesses, as /sys/bus/event_source/devices/*/events names
// and describes them. `root`: "" for this machine, else a folder with a copy of its /sys.
std::vector<CountedEvent> unaligned_cpu_events(const std::string& root);

class EventCounts {
  public:
    // Opens `events` for `pid`, which has not yet exec'd its program, and all that it will start; they count from that
    // exec on. Those that do not open are left out, with the reason in words.
    EventCounts(int pid, const std::vector<CountedEvent>& events);
    ~EventCounts();
    EventCounts(const EventCounts&) = delete;
    EventCounts& operator=(const EventCounts&) = delete;

    struct Count {
        std::string name;
        uint64_t value;
        bool estimated; // shared a counter with others and was extrapolated
    };
    // So far, processes that ended included.
    std::vector<Count> read() const;

    // EventCount records, and what could not be counted as evidence "alignment-events". Once, at the end.
    void write(NodeTraceWriter& file) const;

  private:
    struct Opened {
        std::string name;
        int fd;
    };
    int pid_;
    std::vector<Opened> opened_;
    std::string why_not_; // "name: reason; name: reason"
};

} // namespace plumb::record
