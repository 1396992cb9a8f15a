// Messages between MPI_Mprobe and MPI_Mrecv, by their handles. A program has few of them at a time.
#pragma once

#include "record/mpi/mpi_call.h"

namespace plumb::shim::mpi {

struct ProbedMessage {
    Handle comm;
    int32_t source, tag;
};

// Thread-safe, never blocks. A message that finds no room is forgotten.
void remember_message(Handle message, const ProbedMessage&);

// False: not known. A message that is taken and whose receive fails is gone for the recording, too.
bool take_message(Handle message, ProbedMessage*);

} // namespace plumb::shim::mpi
