// Who allocates: the heap by line of the user's own code.
#pragma once

#include "model/call_paths.h"
#include "analysis/report.h"

#include <vector>

namespace plumb {

// By allocated bytes, at most `limit` lines, all processes together. Empty when no heap was recorded.
std::vector<HeapLine> build_heap_profile(model::CallPaths& paths, size_t limit);

// True when every process whose heap was recorded recorded every event.
bool heap_is_exact(const model::Run& run);

} // namespace plumb
