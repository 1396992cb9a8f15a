// How MPI launchers number the processes of a job on one node. Both sides read these variables: the shim in the
// ranks, `plumb` when it is itself started by a launcher. Plain functions, no allocation, signal-safe.
#pragma once

namespace plumb::launchers {

struct Variables {
    const char* launcher;
    const char* local_rank;
    const char* local_size; // null: the launcher does not tell
};

// The first whose local rank is set and is a number wins: a launcher's own variables before those it may have
// inherited from the batch system around it.
inline constexpr Variables kVariables[] = {
    {"openmpi", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"hydra", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"mvapich", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"palsd", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    {"pmix", "PMIX_LOCAL_RANK", nullptr},
    {"slurm", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};

// The number at the start of `text` (SLURM writes "4(x2)", OMP_NUM_THREADS may be "4,2"); -1: null or no number.
inline int number(const char* text) {
    if (!text || *text < '0' || *text > '9')
        return -1;
    long value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + (*text - '0');
        if (value > 1 << 24)
            return -1;
    }
    return static_cast<int>(value);
}

} // namespace plumb::launchers
