// The findings of a report as text.
#pragma once

#include "reports/report.h"
#include "reports/text_canvas.h"

namespace plumb {

// "file:line in function", as much of it as is known.
std::string location_text(const Location& location);

void put_findings(TextCanvas& canvas, const Report& report);

} // namespace plumb
