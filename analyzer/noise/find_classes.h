// Finds the classes of noise that measured losses consist of.
//
// Lengths at which losses pile up are looked at first, the most frequent first, then broader ranges. In each: is there a period
// (noise/period_search.h)? Its events, on all nodes, are then taken out, also from the losses that hold two events; and so on,
// until nothing is periodic. Lengths that still pile up are classes that come at random, if their moments do not contradict
// that. What then remains is background: it is counted, and no class is made of it.
#pragma once

#include "model/noise.h"

#include <cstdint>
#include <vector>

namespace plumb::noise {

struct FoundNoise {
    model::NoiseMachine machine;
    double loss_s = 0;        // of all losses
    double unexplained_s = 0; // of them in no class
    uint64_t unexplained = 0; // losses
    std::vector<double> loss_of_nodes_s;
    double unexplained_share() const { return loss_s > 0 ? unexplained_s / loss_s : 0; }
};

FoundNoise find_noise(const model::NoiseLosses& losses);
model::NoiseMachine find_classes(const model::NoiseLosses& losses); // the classes alone; the greatest loss first

} // namespace plumb::noise
