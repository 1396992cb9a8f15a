// The steps of a job and its noise, each apart: what a simulation of it begins with.
#pragma once

#include "model/mpi_steps.h"
#include "replay/collectives/epochs.h"
#include "replay/events/rank_work.h"
#include "replay/messages/messages.h"

namespace plumb::replay {

// Reads the collectives of all ranks once more. Without a team. Empty where a rank cannot be read, or where fewer than two
// collectives are of all ranks.
model::MpiSteps steps_of(const model::Run& run, const Job& job, const EpochTable& epochs, const MatchedMessages& messages,
                         const OpenTrace& open, const RankWork& work);

} // namespace plumb::replay
