// The classes of noise in what was measured, each with who makes it where that is known.
#pragma once

#include "analyses/noise/noise_summary.h"

namespace plumb {

// Fills summary.machine from the losses, and from summary.culprits and summary.interrupts, which must be there. Losses of each
// process that was named are looked at by themselves, as bursts; so are all that nobody is known for, and a class of these is
// an interrupt's if exactly one source comes as often on these CPUs.
void find_noise_classes(const model::Run& run, NoiseSummary& summary);

} // namespace plumb
