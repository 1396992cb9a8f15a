// This library as a tool of the OpenMP runtimes of LLVM, Intel and AMD.
#pragma once

namespace plumb::shim::openmp {

// Whether the runtime that this function belongs to reports its regions to the tool: hooks then pass its calls on without a
// record. One load where there is no such runtime.
bool reports_to_tool(const void* function);

} // namespace plumb::shim::openmp
