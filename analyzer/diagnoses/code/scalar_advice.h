// How to have a loop packed that is not, by what stands in the way, the language and the compiler.
#pragma once

#include "analyses/loops/sampled_loops.h"
#include "diagnoses/finding.h"

#include <string>
#include <vector>

namespace plumb {

// Why it computes one element at a time: the end of a sentence.
std::string scalar_reason(code::ScalarCause cause, const SampledLoop& loop);

std::vector<Advice> scalar_advice(code::ScalarCause cause, const SampledLoop& loop);

} // namespace plumb
