// Jobs simulated rank by rank, with a state for each: what halo exchanges need, whose ranks wait for their neighbours alone,
// and the plain form of what last_rank.h does faster.
#pragma once

#include "simulate/last_rank.h"
#include "simulate/outcome.h"
#include "simulate/rank_noise.h"

namespace plumb::simulate {

// Any collective. The job starts at start_s. `on_cycle` is not called for halo exchanges.
Outcome simulate_every_rank(const RankNoise& noise, double start_s, const OnCycle& on_cycle = nullptr);

} // namespace plumb::simulate
