// Where the CPU time went, from the samples: by line of the user's own code, and by shared object.
#pragma once

#include "model/call_paths.h"
#include "analysis/report.h"

#include <vector>

namespace plumb {

struct Profile {
    std::vector<HotLine> lines;          // by time; at most `line_limit`
    std::vector<LibraryShare> libraries; // by time, all of them
    double seconds = 0;                  // CPU time that the samples stand for
    uint64_t samples = 0;
};

// Kernel time counts for the user's line that asked for it; among the libraries it stands as "[kernel]".
Profile build_profile(model::CallPaths& paths, size_t line_limit);

// Without a source line, instructions stand for their function ("sin+0x12" counts for "sin"), and without a
// symbol for their module: single addresses would scatter the time over hundreds of lines.
model::SourceFrame without_offset(model::SourceFrame frame);

} // namespace plumb
