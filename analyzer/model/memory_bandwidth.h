// What loops over large arrays moved through memory, and what the machine can move.
#pragma once

#include "model/alignment.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

// Accesses of a loop that go through one piece of memory side by side; only where the caches cannot keep it.
struct MemoryStream {
    uint64_t instruction = 0; // of the access in front
    AccessKind kind;          // of all its accesses together
    bool past_caches = false; // stores that do not read the line first
    int64_t round_bytes = 0;  // from one round of the loop to the next
    uint64_t read_bytes = 0, written_bytes = 0; // from and to memory, of one round
    uint64_t footprint_bytes = 0;
    uint64_t lowest_address = 0, highest_address = 0, last_address = 0;
};

// What all threads in the loop moved for some milliseconds.
struct TrafficBurst {
    uint64_t begin_ns = 0, end_ns = 0; // the same begin_ns for all loops that were looked at together
    double threads = 0;                // in the loop at once, on average
    double read_bytes_per_s = 0, written_bytes_per_s = 0;
};

struct StreamingLoop {
    uint64_t begin = 0, end = 0; // addresses of its first and last instruction
    uint64_t first_ns = 0, last_ns = 0;
    uint64_t after = 0; // first instruction of the loop that each of its sweeps comes after; 0: not known, or itself
    std::vector<MemoryStream> streams;
    std::vector<TrafficBurst> bursts; // by time
};

// How many arrays a loop goes through at once, by what it does to them.
struct StreamMix {
    uint32_t loads = 0, stores = 0, updates = 0, past_caches = 0;
    bool operator==(const StreamMix&) const = default;
};
StreamMix mix_of(const StreamingLoop& loop);

// Measured after the run, with such streams, on CPUs that the run used.
struct BandwidthPoint {
    uint32_t threads = 0;
    std::vector<int> cpus;
    uint32_t nodes = 0; // NUMA nodes of these CPUs
    double bytes_per_s = 0, low = 0, high = 0; // median and quartiles; counted as in TrafficBurst
};
struct BandwidthRoof {
    StreamMix mix;
    uint64_t bytes = 0; // of the arrays
    std::vector<BandwidthPoint> points; // by threads
    std::string why_not; // measured, in words
};

} // namespace plumb::model
