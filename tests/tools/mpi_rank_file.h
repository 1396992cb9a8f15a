// The trace file of one rank of a pattern, as the shim would have left it.
#pragma once

#include "mpi_matrix.h"
#include "mpi_pattern.h"

#include <string>

namespace plumb::tools {

inline constexpr uint64_t kRunBegin_ns = 1'000'000'000'000; // CLOCK_MONOTONIC of all hosts

std::string host_name(const MpiPattern& pattern, int rank);

// Writes DIRECTORY/process-<pid>-<start>.plumb; returns its size in bytes. Events are thinned by strides as the shim thins them, so that
// the file stays within its 8 MiB. `matrix`: of further messages, or null. Throws plumb::Error when it cannot be written.
uint64_t write_rank_file(const std::string& directory, const MpiTimes& times, const MpiMatrix* matrix, int rank);

} // namespace plumb::tools
