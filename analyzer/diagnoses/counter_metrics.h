// Metrics of hardware counters, where the machine has some that passed their test.
#pragma once

#include "diagnoses/finding.h"
#include "model/run.h"

#include <vector>

namespace plumb {

std::vector<Metric> counter_metrics_of(const model::Run& run);

} // namespace plumb
