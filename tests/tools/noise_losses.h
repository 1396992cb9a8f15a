// The losses that fixed work quanta would have measured on a machine whose noise is known: truth for plumb::noise.
// An event is seen as the loss of the quantum in which it begins and lengthens that quantum; events that begin in a quantum,
// lengthened as it is, are summed.
#pragma once

#include "model/noise.h"

#include <cstdint>

namespace plumb::tools {

struct NoiseMeasurement {
    model::NoiseMachine machine; // its nodes and cpus_per_node are those that are measured: neither may be 0
    double quantum_s = 1e-3;
    uint64_t quanta = 100'000;        // of each CPU
    double background_loss = 0;       // share of each CPU's time that random short losses take, beside the classes
    double background_mean_s = 50e-6; // of their lengths, which are exponential
    double least_s = 100e-6;          // shorter losses of a quantum are left out
    uint64_t seed = 1;
};

// By node, CPU, begin; the same for the same measurement.
model::NoiseLosses make_noise_losses(const NoiseMeasurement& measurement);

// The share of a CPU's time, as the mean of all CPUs, that the classes take.
double loss_of_classes(const model::NoiseMachine& machine);

} // namespace plumb::tools
