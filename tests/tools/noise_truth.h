// Machines whose noise is known, and how what was found in their losses compares with it.
#pragma once

#include "noise_losses.h"

#include <string>
#include <vector>

namespace plumb::tools {

// The published machine of 32-node clusters: heartbeats of the kernel and a resource manager on all nodes, cluster software on
// nodes 0, 1 and 31 of each. The publication gives no figures of node 0's four kinds but "up to 200 ms"; those here are chosen.
// `kernel_scope`: whether each CPU has its own heartbeats, or one CPU of the node.
model::NoiseMachine published_machine(uint32_t nodes, model::NoiseClass::Scope kernel_scope);

// A random machine: its size, its classes, where they are, how regular.
NoiseMeasurement random_measurement(uint64_t seed);

struct NoiseComparison {
    size_t true_classes = 0, found_classes = 0;
    size_t recovered = 0; // F within 2 % (of random events: within 3 standard deviations, or 2 %), L within 5 %, the same
                          // nodes, CPUs and regularity
    size_t invented = 0;                  // nothing like it is there
    std::vector<std::string> differences; // a line each
};

NoiseComparison compare_noise(const NoiseMeasurement& truth, const model::NoiseMachine& found);

} // namespace plumb::tools
