// What is said of a class only when chance does not explain it.
#pragma once

#include "model/noise.h"

#include <cstddef>
#include <vector>

namespace plumb::noise {

// That `events` happen on some of the CPUs of a node only: not by chance.
bool is_choice_of_cpus(size_t cpus, uint32_t of, double events);

// Its phase, of its events by node: whether other nodes' events come at the same moments.
model::NoiseClass::Phase phase_of(const std::vector<std::vector<double>>& begins_of_nodes_s, double window_s,
                                  double measured_s);

} // namespace plumb::noise
