// The cycles of a run beside what a model expects of them: how much longer they take, and since when.
#pragma once

#include "analysis/cycle_model.h"
#include "analysis/report.h"

namespace plumb {

CycleExpectation expectation_of(const CycleModel& model, const model::MpiJob& job);

// Sets MpiSummary::expectation of each job. Throws Error where the run has no MPI job.
void compare_with_model(const CycleModel& model, Report& report);

} // namespace plumb
