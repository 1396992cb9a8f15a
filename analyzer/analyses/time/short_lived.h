// Processes that ended before anything was seen of them.
#pragma once

#include "model/run.h"

namespace plumb {

// Every thread has a clock of its own that samples it, which starts anew with the thread: one that runs for less than a period is
// never sampled, however many of its kind there are. True where no thread of the process was sampled or looked at, and none ran
// long enough for it.
bool is_short_lived(const model::Run&, const model::Process&);

} // namespace plumb
