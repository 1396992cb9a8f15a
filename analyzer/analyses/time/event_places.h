// Where sampled events of the CPU and the kernel happened: by line of the user's own code, by thread and by region.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct EventPlaces {
    struct Thread {
        size_t process = 0, thread = 0; // indexes into Run::processes and Process::threads
        double events = 0;
    };
    struct Region { // of the public API
        std::string name;
        double events = 0; // in all regions of this name; those in overlapping ones count in each
    };
    std::string event;   // as in model::CounterSite
    uint64_t samples = 0;
    double events = 0;   // that the samples stand for; not all that happened: hardware events are sampled for parts of the run
    LineShares lines;    // by events
    std::vector<Thread> threads; // most first
    std::vector<Region> regions; // most first

    // Of a line, by where model::CallPaths::user_frame() puts it.
    double events_at(const Location& line) const;
};

// By name of the event. Empty: none was sampled.
std::vector<EventPlaces> event_places_of(model::CallPaths& paths);
const EventPlaces* find_event_places(const std::vector<EventPlaces>& places, const std::string& event);

} // namespace plumb
