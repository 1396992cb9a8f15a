// MPI jobs in words, the same in text and HTML.
#pragma once

#include "analysis/mpi_summary.h"

namespace plumb {

// "Not in these figures, mean of the ranks: MPI_Init 1.20 s, MPI_Finalize 300 ms."; "" where it was little.
std::string start_and_end_sentence(const MpiSummary& summary);

// For each of the lines: the callers that tell it from those which read the same (call and frame), the nearest that do, by
// pointers into it, innermost first. None where nothing reads the same, or nothing distinguishes them.
std::vector<std::vector<const model::SourceFrame*>> telling_callers(const std::vector<const MpiSiteLine*>& lines);

// "MPI: 64 ranks on 16 hosts, Open MPI 4.1.4"
std::string mpi_heading(const MpiSummary& summary);

// How much of the ranks' time went to MPI, to which part of it, and between which bounds ranks differ.
std::string mpi_time_sentence(const MpiSummary& summary);

// What the figures rest on where that is not all there was: ranks without a record, events thinned, clocks that could not
// be aligned. Empty: everything was there.
std::vector<std::string> mpi_limits(const MpiSummary& summary);

// "The others waited 3.2 rank-seconds for rank 21 on node005 (70 % of ...): it came last to 940 collectives ..."
std::string awaited_sentence(const MpiSummary& summary, const model::MpiRankRow& row, const model::Run& run);

std::string mean_size_text(const model::MpiCallSite& site); // "1.00 KiB"; "" where no bytes were moved
std::string waiting_text(const model::MpiCallSite& site);   // share of its time that was waiting for others; "" when unknown

} // namespace plumb
