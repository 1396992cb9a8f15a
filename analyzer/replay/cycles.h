// How finely a job's work is cut by its collectives, and how long its cycles take.
#pragma once

#include "model/mpi_job.h"
#include "replay/charges.h"
#include "replay/cycle_parts.h"

namespace plumb::replay {

// Without what it says of cycles.
model::MpiGranularity granularity_of(const JobCharge& all, const EpochTable& epochs);

// `parts`: of all meetings whose ranks could be read, in any order. `begin`: of the job.
model::MpiCycles cycles_of(const model::Run& run, const Job& job, const EpochTable& epochs, const CycleShape& shape,
                           const std::vector<MeetingParts>& parts, Nanoseconds begin);

} // namespace plumb::replay
