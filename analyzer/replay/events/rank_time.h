// Where a rank's time went, as its own file sums it up.
#pragma once

#include "model/run.h"

namespace plumb::replay {

// Of the thread that spent most time in MPI, between the end of MPI_Init and the beginning of MPI_Finalize. A call that it
// never came out of is time in MPI, too.
struct RankTime {
    uint32_t thread = 0; // index into Process::threads
    double elapsed_s = 0;
    double mpi_s = 0;
    double collective_s = 0, message_s = 0; // of mpi_s

    double compute_s() const { return elapsed_s - mpi_s; }
};

// Of a process that has an MPI part.
RankTime rank_time(const model::Run& run, const model::Process& process);

// Index of the thread that spent most time in MPI.
uint32_t main_mpi_thread(const model::Process& process);

} // namespace plumb::replay
