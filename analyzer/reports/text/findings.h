// The findings of a report as text.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

void put_findings(TextCanvas& canvas, const Report& report);
void put_finding(TextCanvas& canvas, const Finding& finding);

Ink ink_of(Severity severity);

} // namespace plumb
