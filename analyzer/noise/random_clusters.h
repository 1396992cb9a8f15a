// Classes of events of similar length that come at random moments (a Poisson process).
#pragma once

#include "noise/class_assembly.h"

#include <vector>

namespace plumb::noise {

// Only lengths that pile up far above what is around them, and whose moments are those of a Poisson process, are a class; the
// exponential tail of a machine's background is none. Marks their losses as explained. `known`: what has been found before.
// Scope: of events at random on all CPUs it cannot be known whether they are the node's or each CPU's; they are called the
// node's.
std::vector<FoundClass> take_random_clusters(LossStreams& streams, MachineSize machine, const std::vector<FoundClass>& known);

} // namespace plumb::noise
