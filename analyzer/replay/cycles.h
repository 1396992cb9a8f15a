// How finely a job's work is cut by its collectives.
#pragma once

#include "model/mpi_job.h"
#include "replay/charges.h"

namespace plumb::replay {

model::MpiGranularity granularity_of(const JobCharge& all, const EpochTable& epochs);

} // namespace plumb::replay
