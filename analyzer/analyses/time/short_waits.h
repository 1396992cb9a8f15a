// Waits that are over before anybody looks. A look from outside takes 50 us and more, and on a CPU that both share the recorder gets
// it just when the thread begins to wait: of waits that short it meets too few, and takes the thread for running. The kernel's
// records of switches miss none. So what they know beyond the looks is moved, of the run's wall time, from running to the places of
// short waits.
#pragma once

#include "model/run.h"

namespace plumb {

// Corrects wall_ns and what is part of it at the blocked places of all threads, and wall_running_ns; where no look met a short
// wait of the thread, wall_unseen_ns. Threads whose switches are not known exactly stay as they are.
void restore_short_waits(model::Run& run);

} // namespace plumb
