// What the ranks of a job sent to one another, from the record of each.
#pragma once

#include "model/mpi_job.h"
#include "model/run.h"
#include "network/job/recorded_traffic.h"

#include <optional>

namespace plumb {

// Nothing where not all ranks of the job were recorded: where the others are, and what they send to one another, is not known then.
std::optional<network::RecordedTraffic> recorded_traffic(const model::Run& run, const model::MpiJob& job);

} // namespace plumb
