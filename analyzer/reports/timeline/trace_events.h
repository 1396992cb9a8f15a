// The timeline of a run for viewers of the trace event format (Perfetto, chrome://tracing): one row a thread, one slice an
// MPI call, with its source line, its peer and its bytes.
#pragma once

#include "model/call_paths.h"
#include "replay/replay.h"

#include <cstdio>

namespace plumb {

// Written as it is read: memory for the calls of one rank at a time. Throws Error: no rank kept a timeline, a file cannot be
// read, or the stream cannot be written.
void write_trace_events(model::CallPaths& paths, const replay::ReplayOptions& options, std::FILE* stream);

} // namespace plumb
