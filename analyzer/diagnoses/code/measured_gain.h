// What a scalar loop gains by being packed, and a packed one by wider vectors, where the recorder ran it again in both forms.
#pragma once

#include "analyses/loops/sampled_loops.h"
#include "diagnoses/finding.h"
#include "model/packed_loop.h"

#include <vector>

namespace plumb {

// Sets the gain of `finding`, whose cost is known, and adds evidence and advice on wider vectors. `run_again`: of the loop's process.
// `left`: of the loop's time, 0 to 1, what can be saved before memory gives no more. False, and nothing set: the loop was not run
// again, it takes longer in the program than there, or the cure of this cause makes another loop of it than what was run.
bool set_measured_gain(const SampledLoop& loop, code::ScalarCause cause, const std::vector<model::PackedLoop>& run_again, double left,
                       Finding& finding);

// Likewise of a loop that computes with vectors half as wide as this machine's.
bool set_wider_gain(const SampledLoop& loop, const std::vector<model::PackedLoop>& run_again, double left, Finding& finding);

// Of the processor that has vectors of 32 bytes. `took`: what as much work takes with them here.
Advice advice_on_wider(const std::string& took);

} // namespace plumb
