// Whether a call path runs inside a runtime of parallel programs, which waits and spins for reasons of its own.
#pragma once

#include "model/call_paths.h"

#include <cstddef>
#include <cstdint>

namespace plumb {

enum class ParallelRuntime { none, mpi, openmp };

// `process`: index into Run::processes; `node`: into its paths. Not thread-safe (`paths` remembers what it looked up).
// MPI: called by the program, whichever library of the system it went on to. OpenMP: innermost in user mode.
ParallelRuntime parallel_runtime_of(model::CallPaths& paths, size_t process, uint32_t node);

} // namespace plumb
