// Memory between NUMA nodes in the JSON report: its "memory" object.
#pragma once

#include "reports/json/document.h"
#include "analysis/report.h"

namespace plumb {

// Null for runs on machines where all memory is in one place.
Json memory_object(const Report& report);

} // namespace plumb
