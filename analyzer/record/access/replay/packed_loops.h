// Loops that compute one floating point number at a time, or with vectors half as wide as this machine's, and what they would take if
// each instruction computed several, or twice as many: they run again on memory of plumb's own, in both forms (PackedLoop records).
#pragma once

#include "record/access/replay/loop_moments.h"
#include "record/run/node_trace_writer.h"

#include <span>

namespace plumb::record {

// Takes some milliseconds for each such loop, `allowed_ns` at most or little more, and nothing where there is none. `loops`: the
// costliest first.
void write_packed_loops(std::span<const MomentsOfLoop> loops, uint64_t allowed_ns, NodeTraceWriter& file);

} // namespace plumb::record
