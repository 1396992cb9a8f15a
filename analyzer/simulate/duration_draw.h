// Lengths of noise events, drawn from the distribution of their class.
#pragma once

#include "model/noise.h"

#include <cstdint>

namespace plumb::simulate {

// In seconds, never negative: a function of the key alone. `uniform` spans the mean +- sqrt(3) spreads; `normal` is cut at 0;
// `measured` goes straight from each quantile to the next.
double drawn_length_s(const model::NoiseDuration& duration, uint64_t key);

// No length drawn is longer.
double longest_length_s(const model::NoiseDuration& duration);

// The longest length is worth reckoning with: a few times the mean, not what comes once in 10^15 events.
bool has_short_tail(const model::NoiseDuration& duration);

} // namespace plumb::simulate
