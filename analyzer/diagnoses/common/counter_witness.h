// Hardware counters as a second witness of what samples and timings say: so many misses cost so much time at least, and at most.
#pragma once

#include "diagnoses/finding.h"
#include "model/run.h"

namespace plumb {

// Compares the cost of a finding whose cause makes an event (TLB misses on small pages, loads from other nodes) with how often that
// event was counted. If all events of the run, taken as slow as they can be, cannot cost half of it, the finding loses half of its
// confidence. If they cost half of it even where each is as fast as it can be, the finding loses half of its doubt. Its evidence
// states both. No effect without such a counter.
void hear_counters(Finding& finding, const model::Run& run);

} // namespace plumb
