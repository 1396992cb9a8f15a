// The time account on the first page.
#pragma once

#include "analysis/report.h"
#include "reports/text_canvas.h"

namespace plumb {

void put_account(TextCanvas& canvas, const Report& report);

} // namespace plumb
