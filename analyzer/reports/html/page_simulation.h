// The numbers behind the charts of a simulated job (page/src/data.ts has their types).
#pragma once

#include "simulate/study.h"

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace plumb {

// Classes that made at least a permille of the lost time at some granularity, by index, the largest share first. Empty where no
// rank is the last of a cycle.
std::vector<size_t> classes_by_share(const simulate::Study& study);

struct CumulativeLoss {
    double length_s = 0;
    std::vector<double> shares; // at each granularity, of what it lost: to events of at most this length; 0 to 1
};

// Only lengths at which any of them rises, ascending, with the one below the first.
std::vector<CumulativeLoss> cumulative_losses(const simulate::Study& study);

nlohmann::ordered_json simulation_chart_data(const simulate::Study& study);

} // namespace plumb
