// What an MPI launcher tells its processes about their place on the node, read from the environment.
#pragma once

#include <optional>

namespace plumb::placement {

struct LocalRank {
    int rank = -1;  // among the processes of this job on this node, from 0
    int count = -1; // how many of them; -1: not told
    const char* launcher = "";
};

// Open MPI, MPICH/Hydra and its kin, Slurm, PMIx, MVAPICH, in this order. `get` is getenv or a test's stand-in.
std::optional<LocalRank> local_rank(const char* (*get)(const char* name));

} // namespace plumb::placement
