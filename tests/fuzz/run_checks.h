// What the rest of the analyzer takes for granted of a run that was read from anybody's bytes.
#pragma once

#include "model/run.h"

namespace plumb::fuzz {

void check_run(const model::Run& run);
void check_jobs(const model::Run& run); // after replay

// Each rank gets a neighbour that recorded the same, so that there is something to lay side by side.
void add_neighbours(model::Run& run);

} // namespace plumb::fuzz
