// What several diagnoses and the report need, computed once from the model, before any diagnosis runs.
#pragma once

#include "analyses/accesses/unaligned_lines.h"
#include "analyses/memory/bandwidth_use.h"
#include "analyses/memory/memory_cause.h"
#include "analyses/memory/memory_objects.h"
#include "analyses/time/allocator_time.h"
#include "analyses/time/serial_phases.h"
#include "analyses/time/spinning.h"
#include "analyses/time/time_account.h"
#include "model/call_paths.h"

#include <vector>

namespace plumb {

struct Analyses {
    TimeAccount account;
    MemoryUse memory;
    MemoryCases memory_cases; // of memory.objects
    UnalignedAccesses accesses;
    std::vector<Spinning> spinning;
    std::vector<SerialPhases> serial_phases;
    HeapProfile heap;
    std::vector<BandwidthUse> bandwidth;
};

// The result refers to the run of `paths`, which must outlive it.
Analyses analyses_of(model::CallPaths& paths);

} // namespace plumb
