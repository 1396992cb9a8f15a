// How sure a finding may be that rests on counted samples.
#pragma once

#include <cstdint>

namespace plumb {

// Standard error of the share `hits / samples` (binomial: samples are independent draws of CPU time). 0.5 when
// there are no samples.
double share_error(uint64_t hits, uint64_t samples);

// Probability, 0..1, that the true share lies above `threshold` when `hits` of `samples` were seen (normal
// approximation of the binomial, with the half-sample continuity correction).
double confidence_above(uint64_t hits, uint64_t samples, double threshold);

} // namespace plumb
