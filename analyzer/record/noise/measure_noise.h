// `plumb noise`: measures, and leaves a run directory. One process of several on a node measures it.
#pragma once

#include "record/noise/noise_options.h"

namespace plumb::record {

// Ends after options.time_ns, or at the first SIGINT, SIGTERM or SIGHUP; what was measured until then is kept. Throws UsageError
// for what cannot be meant, Error for what failed; nothing is left behind then.
NoiseOutcome measure_noise(const NoiseOptions& options);

} // namespace plumb::record
