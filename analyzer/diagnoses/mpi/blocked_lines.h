// Where late ranks are blocked outside MPI longer than the others, by looks at their threads.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"
#include "model/mpi_job.h"

#include <string>
#include <vector>

namespace plumb {

struct BlockedLines {
    LineShares lines;
    double seconds = 0; // of all late ranks together, more than the median of the others; estimated
    std::string what;   // most of it, in words: "fsync of /a/file"; empty: nothing was seen
};

// `late`: rows of the job, by rank. Of each rank the thread that calls MPI is looked at.
BlockedLines blocked_lines(model::CallPaths& paths, const model::MpiJob& job, const std::vector<const model::MpiRankRow*>& late);

} // namespace plumb
