// One event of noise may be seen as several losses: the scheduler lets the daemon and the program run in turns until the daemon
// has done its work.
#pragma once

#include "model/noise.h"

namespace plumb::noise {

// Losses of one CPU that are no further apart than the longer of both lasts, taken as one: its length is the sum of theirs.
// `losses`: by node, CPU and begin.
model::NoiseLosses join_bursts(const model::NoiseLosses& losses);

} // namespace plumb::noise
