// Hands on from run to run which code leaves the processor's flags alone (plumb/flag_scan_list.h): what the programs of one
// run found, those of the next need not look for.
#pragma once

#include "platform/machine_cache.h"

#include <string>

namespace plumb::record {

// Before the first program starts. Where the directory has a list already, of another recorder, it stays.
void seed_flag_scan_list(platform::MachineCache& cache, const std::string& run_directory);

// When the program has ended. Of more than three quarters of what fits into a list the latest are kept, so that there is room
// for what the next run finds.
void keep_flag_scan_list(platform::MachineCache& cache, const std::string& run_directory);

} // namespace plumb::record
