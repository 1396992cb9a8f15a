// Where sampled events of the CPU and the kernel happened: by line of the user's own code, and by thread.
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
    std::string event;   // as in model::CounterSite
    uint64_t samples = 0;
    double events = 0;   // that the samples stand for; not all that happened: hardware events are sampled for parts of the run
    LineShares lines;    // by events
    std::vector<Thread> threads; // most first

    // Of a line, by where model::CallPaths::user_frame() puts it.
    double events_at(const Location& line) const;
};

// By name of the event. Empty: none was sampled.
std::vector<EventPlaces> event_places_of(model::CallPaths& paths);
const EventPlaces* find_event_places(const std::vector<EventPlaces>& places, const std::string& event);

} // namespace plumb
