// Call sites of all ranks laid together: the same function called from the same place of the same program on the same kind
// of communicator is one, wherever each rank's loader put the program.
#pragma once

#include "model/run.h"
#include "replay/charges.h"

#include <vector>

namespace plumb::replay {

// The `most` heaviest by time.
std::vector<model::MpiCallSite> merge_call_sites(const model::Run& run, const Job& job,
                                                 const std::vector<RankCharge>& charges, const MatchedMessages& messages,
                                                 uint64_t stride, size_t most = 4096);

} // namespace plumb::replay
