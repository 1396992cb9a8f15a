// How much of what the machine can move through memory a run moved, burst by burst.
#pragma once

#include "model/call_paths.h"
#include "model/run.h"

#include <cstdint>
#include <vector>

namespace plumb {

// Between the measured numbers of threads in a straight line. 0: nothing was measured.
double roof_at(const model::BandwidthRoof& roof, double threads);

// Nearly all that `roof_bytes_per_s` allows, which a test measured. Not that much more either: then one of the two is wrong.
bool fills_roof(double bytes_per_s, double roof_bytes_per_s);

// How many threads reach nearly as much as `threads` do; `threads` if fewer do not.
uint32_t enough_threads(const model::BandwidthRoof& roof, uint32_t threads);

// All loops of a host that were looked at together.
struct HostBurst {
    uint64_t begin_ns = 0;
    double weight_ns = 0; // of the run, that the burst stands for
    double threads = 0;   // that stream, on average
    double read_bytes_per_s = 0, written_bytes_per_s = 0;
    const model::BandwidthRoof* roof = nullptr; // of the loop with most threads; null: none was measured
    double roof_bytes_per_s = 0;                // at so many threads; 0: not known
    uint32_t enough = 0;    // threads that reach nearly as much; 0: not known
    bool full = false;      // nearly all that these threads can move is moved
    bool saturated = false; // likewise, and fewer could move it

    double bytes_per_s() const { return read_bytes_per_s + written_bytes_per_s; }
};

struct LoopUse {
    size_t process = 0; // index into Run::processes
    const model::StreamingLoop* loop = nullptr;
    double time_ns = 0;            // sampled in it
    uint64_t samples = 0;
    double full_fraction = 0, saturated_fraction = 0; // of its bursts, by their weight and its threads
    double bytes_per_s = 0;        // mean of its bursts, likewise
    double bytes = 0;              // of all the time in it
    std::vector<const model::SampleSite*> sites; // of the samples
};

struct BandwidthUse {
    const model::Host* host = nullptr;
    std::vector<HostBurst> bursts; // by time
    std::vector<LoopUse> loops;    // by time in them
};

// One for each host with loops that stream.
std::vector<BandwidthUse> bandwidth_use_of(const model::Run& run);

} // namespace plumb
