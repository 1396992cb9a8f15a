// This process's place among the ranks, as its parallel launcher gave it. Signal-safe.
#pragma once

#include <plumb/launchers.h>

#include <stdint.h>

namespace plumb::shim {

struct LaunchFacts {
    const char* launcher = nullptr; // as plumb/launchers.h names it; null: none
    int32_t rank = -1;              // of MPI_COMM_WORLD or its like, -1: not said
    int32_t rank_count = -1;
    int32_t local_rank = -1; // on this node
    int32_t local_count = -1;
};

struct JobName {
    const char* job = nullptr; // null: the launcher names none
    const char* step = nullptr;
};

// A NULL-terminated environment, and the ancestors of this process. Which launcher counts where the variables of
// several are set: see plumb/launchers.h.
LaunchFacts read_launch_facts(const char* const* environment);
JobName read_job_name(const char* const* environment);

} // namespace plumb::shim
