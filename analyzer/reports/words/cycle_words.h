// The cycles of an MPI job in words, the same in text and HTML.
#pragma once

#include "analysis/mpi_summary.h"

#include <string>

namespace plumb {

// "1,000 cycles, each from MPI_Allreduce at a.c:100 in step to the next: mean 2.10 s; least ..."; "" where none are known.
std::string cycles_sentence(const MpiSummary& summary);

// What the mean cycle takes beyond the fastest tenth of its kind, by its parts, and what makes cycles differ by design. ""
// where there are too few cycles, or little is lost.
std::string cycle_loss_sentence(const MpiSummary& summary);

// "A cycle takes 1.31 times the 400 ms that the model expects of 64 ranks ..."; "" without a model.
std::string expectation_sentence(const MpiSummary& summary);

} // namespace plumb
