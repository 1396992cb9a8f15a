// The time account as text.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

void put_account(TextCanvas& canvas, const Report& report);

// Its largest lines: of the wall time where threads wait for one another, of the thread time otherwise.
void put_short_account(TextCanvas& canvas, const Report& report);

} // namespace plumb
