// What a report shows of sampled events.
#pragma once

#include "analyses/statements.h"
#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct SampledEventRow {
    struct Thread {
        std::string process, name; // name: the process's where it has none
        uint32_t pid = 0, tid = 0;
        double fraction = 0;
    };
    struct Region {
        std::string name;
        double fraction = 0; // of the events; overlapping regions have each their own
    };
    std::string event;
    uint64_t samples = 0;
    double events = 0;            // that they stand for
    std::vector<Location> lines;  // of the user's own code, most first; share: of the events
    double unplaced_fraction = 0; // of the events, in code without a line or function of the user
    std::vector<Thread> threads;  // most first
    std::vector<Region> regions;  // of the public API, most first
};

// By name of the event; of each the heaviest lines, threads and regions.
std::vector<SampledEventRow> summarise_events(model::CallPaths& paths, size_t line_limit, size_t thread_limit, size_t region_limit);

} // namespace plumb
