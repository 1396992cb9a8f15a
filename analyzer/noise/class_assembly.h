// Makes a class of what was found on a part of the machine: looks for its events on all nodes, and marks them as explained.
#pragma once

#include "noise/loss_streams.h"
#include "noise/period_search.h"

#include <optional>

namespace plumb::noise {

struct MachineSize {
    uint32_t nodes = 0, cpus_per_node = 0;
};

struct FoundClass {
    model::NoiseClass noise; // without a name
    double loss_s = 0;       // of its events
};

// Nothing where the whole machine's losses do not bear out what a part of them seemed to show.
std::optional<FoundClass> assemble_periodic(LossStreams& streams, const FoundPeriod& found, MachineSize machine);

} // namespace plumb::noise
