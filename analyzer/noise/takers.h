// Who took CPUs away from threads, preemption by preemption. A program also counts for what threads took from each other because it
// drove them to one CPU (displaced.h).
#pragma once

#include "model/run.h"

#include <cstdint>
#include <vector>

namespace plumb::noise {

struct WatchedThread {
    uint32_t process = 0; // index into Run::processes
    uint32_t thread = 0;  // index into its threads
    uint32_t host = 0;    // index into Run::hosts
    uint64_t begin_ns = 0, end_ns = UINT64_MAX; // what lies outside does not count
};

struct TakenInterval {
    uint64_t begin_ns = 0, end_ns = 0;
    uint32_t taker = 0; // index into FoundTakers::takers; kMostTakers: one of those left out
};

struct FoundTakers {
    static constexpr uint32_t kMostTakers = 8;
    std::vector<model::NoiseTaker> takers;           // by taken_s, the most first; lost_s is not known here
    std::vector<std::vector<TakenInterval>> taken;   // of each watched thread, by time; they do not overlap
    double recorded_share = 1; // of the time that these threads had no CPU, what is known one by one
};

FoundTakers find_takers(const model::Run& run, const std::vector<WatchedThread>& watched);

} // namespace plumb::noise
