// Jobs whose collective makes all ranks wait for the last one, at any size.
//
// All ranks begin a cycle together, so only those that noise delays can be the last, and of these only those that can be later
// than the latest known. Exactly the results of following every rank (every_rank.h), for all that is left out is proven not to
// matter:
// - The frequent classes with hard limits (periodic, with durations that end somewhere; skipped_classes.h) are looked at only
//   where they can matter, the one with the longest events first. If all that the remaining classes could add to a rank is
//   less than the latest rank's delay, they are not looked at.
// - Each event of the other classes is looked at. A rank whose CPU one of them reached is followed until the end of that cycle,
//   and of the next ones while noise still holds its CPU.
// - Where the frequent classes alone were at work, what holds a CPU at a moment depends only on the events of the time just
//   before, whose length has a limit, too.
#pragma once

#include "simulate/outcome.h"
#include "simulate/rank_noise.h"

#include <functional>

namespace plumb::simulate {

// Called at the end of each cycle, with when its last rank came and which one it was; for tests and witnesses.
using OnCycle = std::function<void(uint32_t cycle, double start_s, double last_s, uint32_t rank)>;

// The job starts at start_s; noise began at 0..
Outcome simulate_last_rank(const RankNoise& noise, double start_s, const OnCycle& on_cycle = nullptr);

} // namespace plumb::simulate
