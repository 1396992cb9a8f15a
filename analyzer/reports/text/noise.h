// The text form of a measurement of noise.
#pragma once

#include "analysis/report.h"
#include "reports/text/canvas.h"

namespace plumb {

// Below the head: who takes the time, its classes, how long the losses are, where, and what the figures carry. `full`: all rows.
void put_noise(TextCanvas& canvas, const Report& report, bool full);

} // namespace plumb
