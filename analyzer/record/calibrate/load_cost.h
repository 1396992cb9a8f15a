// What it costs a program that the loader maps, binds and leaves the shim, which nothing inside the program can measure.
#pragma once

#include "record/calibrate/calibration.h"

#include <cstdint>
#include <string>

namespace plumb::record {

// Of a small program, beyond what the shim itself counts as its cost: CPU time with the shim preloaded against without it,
// the median of some runs of each, about 15 ms in all; or what an earlier run on this machine found for this shim.
// `folder` does not exist yet; it is gone again afterwards. 0: not known. The signal SIGCHLD must not be ignored.
uint64_t load_cost_ns(Calibration& calibration, const std::string& shim, const std::string& folder);

} // namespace plumb::record
