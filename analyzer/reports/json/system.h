// The JSON form of what ran on a machine.
#pragma once

#include "analysis/report.h"
#include "reports/json/document.h"

namespace plumb {

Json system_object(const Report& report); // of a report that has it

} // namespace plumb
