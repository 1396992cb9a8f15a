// The reports of a series of runs.
#pragma once

#include "analysis/analyse_run.h"
#include "repeat/series.h"

#include <functional>

namespace plumb {

// Calls `take` with each run that counts, in order, and its report, which lives until then. A run that cannot be read is taken out of
// the result, and named on stderr: the others still count.
void for_each_report(repeat::SeriesResult& result, const AnalysisOptions& options,
                     const std::function<void(const repeat::SeriesRun&, const Report&)>& take);

} // namespace plumb
