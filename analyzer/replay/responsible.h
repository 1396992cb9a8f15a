// Who is behind the lateness of the rank that others waited for.
#pragma once

#include "replay/messages/chains.h"
#include "replay/collectives/epochs.h"
#include "replay/events/rank_work.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

// Whose being late is behind each epoch: the awaited rank, or the one at the root of what that had waited for since its
// last collective. By epoch; UINT32_MAX: nobody.
using Responsible = std::vector<uint32_t>; // rows

// Reads the collectives of all ranks, unless nobody waited for messages.
Responsible find_responsible(const model::Run& run, const Job& job, const EpochTable& epochs,
                             const MatchedMessages& messages, const OpenTrace& open, const RankWork& work);

} // namespace plumb::replay
