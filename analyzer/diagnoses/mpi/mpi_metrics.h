// The efficiencies of the POP project (https://pop-coe.eu, "POP standard metrics") for the main MPI job of a run.
#pragma once

#include "diagnoses/finding.h"
#include "model/run.h"

#include <vector>

namespace plumb {

// The job with most rank-seconds, of at least two ranks; null: there is none.
const model::MpiJob* main_mpi_job(const model::Run& run);

// parallel efficiency = load balance x communication efficiency; communication efficiency = serialisation x transfer.
std::vector<Metric> mpi_metrics_of(const model::MpiJob& job);

} // namespace plumb
