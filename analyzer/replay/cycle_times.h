// The cycles of a job in figures: quantiles, a series and a histogram of their times, and what the mean one loses.
#pragma once

#include "model/mpi_cycles.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::replay {

struct CycleTimes {
    std::vector<double> begin_s; // of each, since the job began
    std::vector<double> length_s;
    std::vector<model::MpiCycleParts> parts; // of each; their sum is its length
    std::vector<uint64_t> signature;         // what it did, see kinds_of()
    double look_s = 0;                       // model::MpiCycles::look_s
};

inline constexpr size_t kMostCyclePoints = 512;

// Sets everything of `cycles` but its call site. Of no cycle: nothing.
void describe_cycles(const CycleTimes& times, model::MpiCycles& cycles);

} // namespace plumb::replay
