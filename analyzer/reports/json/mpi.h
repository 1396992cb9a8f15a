// MPI jobs in the JSON report.
#pragma once

#include "reports/json/document.h"

namespace plumb {

Json mpi_jobs_array(const Report& report);

} // namespace plumb
