// How fast the streams of loops come forward, from samples of threads that lie so close together that a stream does not
// come around between two of them. Pure.
#pragma once

#include "record/access/loops/loop_streams.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

// One sample of a thread.
struct LoopSample {
    uint64_t time_ns = 0;
    uint64_t begin = 0, end = 0; // addresses of the loop's first and last instruction; 0: it was in no loop
    std::vector<StreamPosition> positions; // by instruction
};

// From one sample to the next.
struct Advance {
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t from = 0, to = 0; // addresses; against the stream's direction if it goes down
};

struct StreamRate {
    StreamPosition position; // as sampled last
    double rounds_per_s = 0; // of the loop, by this stream; 0: it does not come forward evenly
    bool streams = false;    // at the rate of the loop. Others begin anew within short: they stay in the caches
    std::vector<Advance> advances; // that the rate is made of
    double sharers = 1;      // threads that go through the same memory together with this one, itself included
};

// One thread in one loop.
struct LoopRate {
    uint64_t begin = 0, end = 0; // of the loop
    uint64_t samples = 0;
    uint64_t time_ns = 0;        // on a CPU and in the loop
    double rounds_per_s = 0;     // while it was there, 0: not known
    std::vector<StreamRate> streams; // by instruction
};

// Of one thread, by time. Samples more than `longest_gap_ns` apart are not compared: the thread lost its CPU in between.
std::vector<LoopRate> loop_rates(std::span<const LoopSample> samples, uint64_t longest_gap_ns);

// Threads that take turns at the parts of one array, or all read the same, cover the same memory: what they seem to move
// was moved once. Sets `sharers`; `threads`: what loop_rates told of each thread of one process in the same burst.
void find_sharers(std::span<std::vector<LoopRate>> threads);

} // namespace plumb::record
