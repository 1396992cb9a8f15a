// The report as a page of text.
#pragma once

#include "analysis/report.h"
#include "reports/text/terminal.h"

#include <string>

namespace plumb {

// Findings first, each to be understood without scrolling; then metrics, profile, placement, evidence, own
// cost.
std::string text_report(const Report& report, const TextStyle& style);

} // namespace plumb
