// What can be counted: each event with the names that perf and PAPI have for it, and the groups that are counted together.
#pragma once

#include "record/counters/known_work.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace plumb::record {

struct CounterEvent {
    // As in reports and in the trace; part of the format, so that names stay.
    const char* name;
    // Of perf_event_open, with the kernel's generic events; kNoPerf: it has none.
    uint32_t perf_type;
    uint64_t perf_config;
    // PAPI's presets, and native events by the names of libpfm, that mean the same; the first that works is taken; "" ends the list.
    const char* named[3];
    // How many of it the known work makes.
    Quantity quantity;
};

inline constexpr uint32_t kNoPerf = UINT32_MAX;

// All events, hardware first. What the kernel counts by itself (is_software) works on every machine with perf events.
std::span<const CounterEvent> counter_events();
const CounterEvent* find_event(std::string_view name);
bool is_software(const CounterEvent& event);
bool needs_scattered_loads(const CounterEvent* event); // the known work has none of it without them

// The events of each group, by name: no more than four, because some CPUs have no more counters for one thread. The first two are
// the same in all hardware groups, so that each figure can be related to cycles and instructions of the same time.
struct CounterGroupPlan {
    const char* name;
    std::vector<const CounterEvent*> events;
};
std::vector<CounterGroupPlan> hardware_groups();
CounterGroupPlan software_group();

// Hardware events of which it is of interest where in the code they happen: a set is sampled at a time, no more events than counters.
// The most important set comes first, and in it the most important event.
std::vector<std::vector<const CounterEvent*>> sampled_sets();

} // namespace plumb::record
