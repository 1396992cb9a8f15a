// The numbers that describe a run as a whole, each with its formula and caveat.
#pragma once

#include "diagnoses/finding.h"
#include "model/call_paths.h"

#include <vector>

namespace plumb {

struct Analyses;

// Only metrics that the recorded evidence carries; a missing source of evidence means a missing metric, not a zero.
std::vector<Metric> metrics_of(const model::CallPaths& paths, const Analyses& analyses);

} // namespace plumb
