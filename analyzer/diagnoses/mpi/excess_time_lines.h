// Where late ranks spend CPU time that the others do not spend: by samples of both, line by line.
#pragma once

#include "analyses/lines/line_shares.h"
#include "model/call_paths.h"
#include "model/mpi_job.h"

#include <vector>

namespace plumb {

struct ExcessTimeLines {
    // Time in MPI calls is more at the others, so that it drops out. Lines that are more by the chance of sampling only come in
    // where there are no others.
    LineShares lines;
    double cpu_s = 0; // of all late ranks together, what is more than chance
    // What the usual rank spends on these lines, as a share of what the late ones do: near 0, they do what no other does.
    double usual_share = 0;
    uint64_t samples = 0; // of all compared ranks: few say nothing, many that show no lines say that there are none

    // Which ranks have their extra work in common.
    bool known = false;   // most of the compared ranks have a line that is more than chance
    bool is_shared = true; // one such line is the same for nearly all of them
    // Otherwise: those with the same heaviest line, indexes into `late`; all of them where they are too many to be compared.
    std::vector<std::vector<size_t>> parts;
};

// `late`: rows of the job, by rank.
ExcessTimeLines excess_time_lines(model::CallPaths& paths, const model::MpiJob& job,
                                  const std::vector<const model::MpiRankRow*>& late);

} // namespace plumb
