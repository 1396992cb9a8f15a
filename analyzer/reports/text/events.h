// Sampled events in the text report.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

void put_events(TextCanvas& canvas, const Report& report);

} // namespace plumb
