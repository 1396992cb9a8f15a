// The numbers behind the charts, as the page's script reads them (page/src/data.ts has their types).
#pragma once

#include "reports/cpu_timeline.h"
#include "analysis/report.h"

#include <string>

namespace plumb {

// JSON without any '<' or '&', so that it can stand inside a script element.
std::string page_data(const Report& report, const CpuTimeline& timeline);

} // namespace plumb
