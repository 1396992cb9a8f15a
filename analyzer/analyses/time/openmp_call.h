// What the program asks of the OpenMP runtime where a sample lies, by the function that it calls there.
#pragma once

#include "model/call_paths.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plumb {

enum class OpenMpCall {
    none,              // the sample does not lie in an OpenMP runtime
    other,             // barriers, begin and end of regions, waiting between them, and what has no name
    making_tasks,
    waiting_for_tasks, // takes tasks up as well; samples cannot separate the two
    taking_chunks,
    entering_critical, // criticals and locks
    leaving_critical,
};

// By name: functions of libgomp (GOMP_), and of the interface of LLVM, Intel and AMD (__kmpc_).
OpenMpCall openmp_call_named(std::string_view function);

// What the runtime does for the program at `node`, perhaps in the C library or the kernel. `process`: index into Run::processes.
// Not thread-safe (`paths` remembers what it looked up).
OpenMpCall openmp_call_of(model::CallPaths& paths, size_t process, uint32_t node);

} // namespace plumb
