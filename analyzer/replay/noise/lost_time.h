// What a job loses because ranks lose their CPUs: its collectives of all ranks, replayed without the preemptions.
//
// Between two such collectives each rank is taken to arrive at the second as much earlier as it, or a rank whose message it
// waited for, had no CPU since the last one to arrive at the first; a wait that covers a preemption covers it still. The next
// collective begins when the last rank arrives. A preemption of a rank that waits for others costs nothing, and one that sticks
// out of the waiting costs what sticks out.
#pragma once

#include "replay/collectives/epochs.h"
#include "replay/events/rank_work.h"
#include "replay/messages/messages.h"

#include <optional>

namespace plumb::replay {

// Reads the collectives of all ranks once more, unless nobody lost its CPU. Nothing in a process of a team that does not lead it.
std::optional<model::MpiNoise> time_lost_to_noise(const model::Run& run, const Job& job, const EpochTable& epochs,
                                                  const MatchedMessages& messages, const OpenTrace& open, const RankWork& work);

} // namespace plumb::replay
