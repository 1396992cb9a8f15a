// Loops in which some accesses cross lines or pages, and what that costs in place: they run again on memory of plumb's own, as they
// were and with aligned data (ReplayedAccess records).
#pragma once

#include "record/access/replay/loop_moments.h"
#include "record/run/node_trace_writer.h"

#include <span>

namespace plumb::record {

// Takes a millisecond or two for each such loop, `allowed_ns` at most or little more, and nothing where there is none. `loops`: the
// costliest first.
void write_crossings(std::span<const MomentsOfLoop> loops, uint64_t allowed_ns, NodeTraceWriter& file);

} // namespace plumb::record
