// The distribution of an event's durations.
#pragma once

#include "model/noise.h"

#include <vector>

namespace plumb::noise {

// Of the shapes the one whose distribution function is nearest to that of the durations (Kolmogorov's distance), or their
// quantiles where none is near. `least_s`: shorter ones were not measured. At least one duration is needed.
model::NoiseDuration fit_duration(std::vector<double> durations_s, double least_s);

} // namespace plumb::noise
