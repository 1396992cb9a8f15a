// plumb system --every: a machine looked at all the time, an interval after the other, each as a line of a history.
#pragma once

#include "record/system/record_system.h"

#include <string>

namespace plumb {

// Ends with SIGINT, SIGTERM or SIGHUP, after the interval's line is written, or after `most_ns` (0: never). Throws Error: the
// history cannot be written, or nothing can be recorded.
void watch_system(const record::SystemOptions& options, const std::string& history, uint64_t most_ns);

} // namespace plumb
