// Who allocated the heap's blocks that are too many to be known one by one: by bytes, as the heap sampler saw them.
#pragma once

#include "model/call_paths.h"

#include <string>
#include <vector>

namespace plumb {

struct SmallBlockSite {
    std::string place; // the line that allocates
    double share = 0;  // of the bytes of such blocks that lived when the process's heap was largest
};

// Of one process, largest first; only such as have a share worth naming. Empty: the heap was not recorded, or too few of
// these blocks were sampled.
std::vector<SmallBlockSite> small_block_sites(model::CallPaths& paths, size_t process);

} // namespace plumb
