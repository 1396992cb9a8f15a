// MPI jobs as replay/ would have made them.
#pragma once

#include "model/run.h"

namespace plumb::synthetic {

// Adds a job of `size` ranks, four on a host: a halo exchange and an allreduce of all, to which rank size / 3 comes late.
// Every rank is the process at index 0, whose paths 1 to 4 are the call sites.
void add_mpi_job(model::Run& run, int size);

} // namespace plumb::synthetic
