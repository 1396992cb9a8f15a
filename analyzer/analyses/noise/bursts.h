// A daemon that works for 20 ms on a CPU that a program wants as well gets it in slices, between which the program goes on:
// several losses, one event.
#pragma once

#include "model/measured_noise.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plumb {

struct NoiseBurst {
    int cpu = 0;               // of its first slice
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t length_ns = 0;    // that it had CPUs for, all slices together
};

// Bursts of one process, by time. `losses`: its own, by time, on all CPUs of the host. Two slices belong together while the
// process had a CPU for at least a fifth of the time since its burst began: schedulers share a CPU that several want in about
// equal parts.
std::vector<NoiseBurst> bursts_of(std::span<const model::MeasuredLoss* const> losses);

// How often and how regularly they come.
struct BurstRhythm {
    double period_s = 0;    // median of the distances between their begins; 0: fewer than three
    bool is_regular = false; // half of the distances are within a tenth of it
    double mean_s = 0, spread_s = 0; // length: mean and standard deviation
};
BurstRhythm rhythm_of(std::span<const NoiseBurst> bursts);

} // namespace plumb
