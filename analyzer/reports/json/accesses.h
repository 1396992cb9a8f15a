// Unaligned accesses in the JSON report: its "accesses" array.
#pragma once

#include "reports/json/document.h"
#include "analysis/report.h"

namespace plumb {

Json accesses_array(const Report& report);

} // namespace plumb
