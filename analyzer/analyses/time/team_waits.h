// How long the threads of OpenMP teams waited inside of parallel regions: at barriers, at the end, for criticals and locks.
#pragma once

#include "model/run.h"

#include <optional>
#include <vector>

namespace plumb {

// By thread of the process, in seconds. Empty where that is not known: the thread starts regions itself, has no part in any, or
// had a part in regions of which the waits are not known (tasks, threads that were not seen).
std::vector<std::optional<double>> team_waits_of(const model::Process& process);

} // namespace plumb
