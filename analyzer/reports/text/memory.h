// Memory between NUMA nodes in the text report: a matrix, where a host of the run has several nodes.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

void put_memory(TextCanvas& canvas, const Report& report);

} // namespace plumb
