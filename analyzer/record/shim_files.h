// What the shim leaves behind in the run directory.
#pragma once

#include <string>

namespace plumb::record {

// Cuts the trace files of processes that have ended to what they hold (they reserve more than they need, so that a
// full disk cannot hurt their process). Files of living processes are left alone.
void trim_shim_files(const std::string& run_directory);

} // namespace plumb::record
