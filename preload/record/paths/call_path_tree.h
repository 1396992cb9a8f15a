// The process's tree of call paths: equal paths have one node, whoever walks them.
#pragma once

#include "record/process/trace_writer.h"

namespace plumb::shim {

// The parent of a path whose outer callers could not be found.
inline constexpr trace::NodeId kCutPath = UINT32_MAX;

// The node reached from `parent` (0: outermost, kCutPath: callers unknown) through `address`; new nodes are appended
// to the trace. When memory or the file has no room for another node, the path ends at `parent` (0 for a new root).
// Thread-safe and signal-safe without locks. Two threads that make the same node at the same moment may make two:
// readers add up what stands at equal paths.
trace::NodeId call_path_child(const Guard&, trace::NodeId parent, uint64_t address);

// How many nodes found no room.
uint64_t call_path_nodes_refused();

} // namespace plumb::shim
