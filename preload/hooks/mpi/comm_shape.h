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

struct Neighbours {
    int32_t in, out;
};
Neighbours neighbours_of(Handle comm); // by its topology; none: 0, 0

} // namespace plumb::shim::mpi
