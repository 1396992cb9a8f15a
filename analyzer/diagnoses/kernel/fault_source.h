// Whose memory the page faults of a run are for, as far as counts tell: what helps against them depends on it.
#pragma once

#include "model/run.h"

namespace plumb {

enum class FaultSource {
    unknown,        // the allocations of the faulting processes were not recorded
    allocator,      // malloc gave out enough memory for the faults to be its
    kept,           // the same, but nearly every page was touched once and stayed: nothing was given back
    own_mappings,   // it did not: the program, or a library, maps memory itself
    java,           // nor here: the Java heap, which Java maps itself
    process_starts, // many processes with few faults each: their code and first data
};

FaultSource fault_source(const model::Run& run);

} // namespace plumb
