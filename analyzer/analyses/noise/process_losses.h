// Losses of one host by the process that caused them.
#pragma once

#include "analyses/noise/bursts.h"

#include <string>
#include <vector>

namespace plumb {

// The name that its losses are summed under: kernel threads of one kind (kworker/0:1, kworker/1:2) are one.
std::string process_group(const std::string& name);

std::vector<std::string> process_groups(const model::MeasuredNoise& noise); // that have losses, by name

// Bursts of all processes of that name, by time. Losses that are known to be theirs in sum only are no bursts by themselves.
std::vector<NoiseBurst> bursts_of_process(const model::MeasuredNoise& noise, const std::string& group);

// All losses to them, those included that are known to be theirs in sum only.
std::vector<const model::MeasuredLoss*> losses_to_process(const model::MeasuredNoise& noise, const std::string& group);

} // namespace plumb
