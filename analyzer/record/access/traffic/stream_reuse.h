// How much memory passes through the caches until a loop comes back to a place: its own streams where it goes over them again
// and again, and those of the loops that run in between where a program goes from loop to loop. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::record {

struct MemoryRange {
    uint64_t begin = 0, end = 0; // addresses

    bool meets(const MemoryRange& other) const { return begin < other.end && other.begin < end; }
};

struct SweptLoop {
    uint64_t sweep_bytes = 0;        // that pass through the caches while all threads together go over its memory once
    double sweeps = 0;               // that were seen, all threads together
    uint64_t threads = 1;
    std::vector<MemoryRange> ranges; // of its streams
    std::vector<uint64_t> entered_from; // by loop: how often a thread was seen to come from there; as long as there are loops
};

// Of each loop the one that runs before it; itself where it is swept several times before another one runs, or where that is
// not known.
std::vector<size_t> loops_before(const std::vector<SweptLoop>& loops);

// What passes until `loop` comes to a place of `range` that it or another loop before it was at. Two loops that go over the same
// memory one after the other: of each half, on average over all places.
uint64_t bytes_until_reuse(const std::vector<SweptLoop>& loops, const std::vector<size_t>& before, size_t loop,
                           const MemoryRange& range);

} // namespace plumb::record
