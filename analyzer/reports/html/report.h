// The report as one HTML file: no network, readable without scripts, charts where they were built in.
#pragma once

#include "analysis/report.h"

#include <string>

namespace plumb {

std::string html_report(const Report& report);

} // namespace plumb
