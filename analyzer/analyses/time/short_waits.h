// Short waits that looks miss. A look takes 50 us or more. Where the recorder shares a CPU with the thread, it gets that CPU when
// the thread begins to wait, and a short wait is over before the look: the thread seems to run. The kernel's records of switches
// miss no wait. What they know beyond the looks is moved, of the run's wall time, from running to the places of short waits.
#pragma once

#include "model/run.h"

namespace plumb {

// Corrects wall_ns and what is part of it at the blocked places of all threads, and wall_running_ns; where no look met a short
// wait of the thread, wall_unseen_ns. Threads whose switches are not known exactly stay as they are. To be called once, on a run as it
// was read: a second call would move the time again.
void restore_short_waits(model::Run& run);

} // namespace plumb
