// The text form of what ran on a machine.
#pragma once

#include "analyses/system/system_summary.h"
#include "reports/text/canvas.h"

namespace plumb {

// Whose time it was: by program and by routine of the kernel; with `full` also by CPU, and interrupts and memory.
void put_system(TextCanvas& canvas, const SystemSummary& system, bool full);

} // namespace plumb
