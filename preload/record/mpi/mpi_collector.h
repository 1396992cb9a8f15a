// The collector "mpi": MPI calls by call path and communicator, messages, collectives (hooks/mpi report them).
#pragma once

#include "record/collector.h"

namespace plumb::shim {

extern const Collector mpi_collector;

namespace mpi {
void note_mpi_started(); // a child forked from here on is no rank and is not recorded as one
}

} // namespace plumb::shim
