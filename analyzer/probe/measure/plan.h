// What is measured in a round, and for how long. Pure.
#pragma once

#include "platform/cpu_paths.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plumb::probe {

// Groups of CPUs that are measured at the same time, as indices: those of a group share no cache by what the kernel says.
std::vector<std::vector<size_t>> waves_of(const std::vector<platform::CpuPath>& paths);

struct PairPlan {
    std::vector<std::pair<size_t, size_t>> pairs; // indices
    size_t left_out = 0;
};

// All pairs, or `most` of them: by what the kernel says that two CPUs share, pairs of each kind in turn.
PairPlan pairs_of(const std::vector<platform::CpuPath>& paths, size_t most);

// Rounds that the verdicts need with so many comparisons: by the signs of all rounds alone, one of them is false in at most one
// probe of twenty.
size_t rounds_needed(size_t comparisons);

// The length of one turn: kTurn_ns, or less where `turns` of them a round would not leave time for that many rounds.
uint64_t turn_length_ns(double time_s, size_t turns, size_t rounds);

inline constexpr uint64_t kTurn_ns = 40'000'000, kShortestTurn_ns = 4'000'000;

} // namespace plumb::probe
