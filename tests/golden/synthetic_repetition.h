// A series of runs that never happened.
#pragma once

#include "repeat/repetition.h"

namespace plumb::synthetic {

// 16 runs of one command: their work goes with the misses of the data cache and, less, with the CPU they ran on.
repeat::Repetition make_repetition();

} // namespace plumb::synthetic
