// Threads that a program drove from their CPU to that of another: while it has the one, they take turns on the other. The system
// moves a thread so when it has waited for long enough (tens of milliseconds on Linux).
#pragma once

#include "noise/takers.h"

#include <vector>

namespace plumb::noise {

// Of each watched thread, for each of its preemptions: the one by a program outside the run that drove it, or the thread that took
// its CPU, there; nullptr: none did. Known is only what follows at once on such a preemption. On hosts with more busy threads than
// CPUs all are nullptr: there they take turns anyway.
std::vector<std::vector<const model::Preemption*>> displaced_by(const model::Run& run, const std::vector<WatchedThread>& watched);

} // namespace plumb::noise
