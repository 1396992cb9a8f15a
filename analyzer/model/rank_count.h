// How many ranks a run had.
#pragma once

#include "model/run.h"

#include <cstddef>

namespace plumb::model {

// Ranks of MPI jobs; and of what a launcher started without MPI, each number once: whatever a rank's scripts start carries its
// number, too.
size_t rank_count(const Run& run);

} // namespace plumb::model
