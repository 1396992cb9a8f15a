// MPI in the text report: a few lines a job, most of it at the call sites.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

void put_mpi(TextCanvas& canvas, const Report& report);

} // namespace plumb
