// What a parallel launcher told this process about its place among the ranks.
#pragma once

#include <stdint.h>

namespace plumb::shim {

struct LaunchFacts {
    const char* launcher = nullptr; // "openmpi", "hydra", "slurm", "pmix"; null: none
    int32_t rank = -1;              // of MPI_COMM_WORLD or its like, -1: not said
    int32_t rank_count = -1;
    int32_t local_rank = -1; // on this node
};

// Reads a NULL-terminated environment. Open MPI speaks before Hydra before Slurm before PMIx: a launcher that runs
// inside another one's job finds the outer one's variables set too, and the inner one is the one that counts.
LaunchFacts read_launch_facts(const char* const* environment);

} // namespace plumb::shim
