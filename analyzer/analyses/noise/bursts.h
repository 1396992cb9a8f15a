// A daemon that works for 20 ms on a CPU that a program wants as well gets it in slices, between which the program goes on:
// several losses, one event.
#pragma once

#include "model/measured_noise.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace plumb {

struct NoiseBurst {
    int cpu = 0;               // of its first slice
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t length_ns = 0;    // that it had CPUs for, all slices together
    uint64_t known_ns = 0;     // of that, what is known to be its own slice by slice
};

// How long the program that measured had a CPU: all time that no loss took.
class ProgramTime {
  public:
    explicit ProgramTime(const model::MeasuredNoise& noise);
    uint64_t between_ns(int cpu, uint64_t begin_ns, uint64_t end_ns) const;

  private:
    struct Losses {
        std::vector<uint64_t> begins_ns, sums_ns; // when each began, and what it and all before it took
        uint64_t until_ns(uint64_t time_ns) const;  // lost until then
    };
    std::map<int, Losses> cpus_;
};

// Bursts of one process, by time. `losses`: its own, by time, on all CPUs of the host. Two slices belong together if in between the
// program had no more than its turn (noise/bursts.h).
std::vector<NoiseBurst> bursts_of(std::span<const model::MeasuredLoss* const> losses, const ProgramTime& program);

// Without those of which the measurement's begin or end cut a part off: as near to it as two of them are long, and shorter than
// most. Nothing is left out of fewer than five.
void leave_out_cut(std::vector<NoiseBurst>& bursts, const model::MeasuredNoise& noise);

// How often and how regularly they come.
struct BurstRhythm {
    double period_s = 0;    // median of the distances between their begins; 0: fewer than three
    bool is_regular = false; // half of the distances are within a tenth of it
    double mean_s = 0, spread_s = 0; // length: mean and standard deviation
};
BurstRhythm rhythm_of(std::span<const NoiseBurst> bursts);

} // namespace plumb
