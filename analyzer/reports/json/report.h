// The report as JSON, the public interface "plumb-report/1" (report.schema.json). Grows by new keys only.
#pragma once

#include "analysis/report.h"

#include <string>

namespace plumb {

inline constexpr const char* kReportSchema = "plumb-report/1";

// Valid UTF-8 whatever the names in the run were; numbers are always finite. `indent` < 0: one line.
std::string json_report(const Report& report, int indent = 2);

} // namespace plumb
