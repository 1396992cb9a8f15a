// What several diagnoses and the report need, computed once from the model, before any diagnosis runs.
#pragma once

#include "diagnoses/access/unaligned_lines.h"
#include "diagnoses/memory/memory_objects.h"
#include "diagnoses/wait/time_account.h"
#include "model/call_paths.h"

namespace plumb {

struct Analyses {
    TimeAccount account;
    MemoryUse memory;
    UnalignedAccesses accesses;
};

// The result refers to the run of `paths`, which must outlive it.
Analyses analyses_of(model::CallPaths& paths);

} // namespace plumb
