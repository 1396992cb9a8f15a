// Sampled events in the JSON report.
#pragma once

#include "reports/json/document.h"

namespace plumb {

Json sampled_events_array(const Report& report);

} // namespace plumb
