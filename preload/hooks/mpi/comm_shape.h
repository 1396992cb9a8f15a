// Sizes of communicators, asked of the library; for calls whose bytes depend on them.
#pragma once

#include "record/mpi/mpi_call.h"

namespace plumb::shim::mpi {

struct Shape {
    int32_t rank;    // of the caller
    int32_t size;    // how many exchange data with each member: its own group, or the other one of an inter-communicator
    bool inter;
};
Shape shape_of(Handle comm);

// Beyond the edge of a grid there is nobody (MPI_PROC_NULL): the place in the arrays stays, and transfers nothing.
struct Neighbours {
    int32_t in, out; // places
    uint64_t absent; // bit i: place i of a grid, which are the same in and out

    int32_t present(int32_t places) const { return places - __builtin_popcountll(absent); }
};
Neighbours neighbours_of(Handle comm); // by its topology; none: 0, 0, 0

inline bool is_absent(uint64_t absent, int32_t place) { return place < 64 && (absent >> place & 1); }

} // namespace plumb::shim::mpi
