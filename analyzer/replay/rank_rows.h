// The rows of model::MpiJob::ranks but for their gain: what the charges of the replay come to beside what each rank's file says itself.
#pragma once

#include "model/run.h"
#include "replay/charges.h"

#include <vector>

namespace plumb::replay {

// `stride`: collectives that each one laid side by side stands for. `caused_by_messages`: see find_chains.
std::vector<model::MpiRankRow> rank_rows(const model::Run& run, const Job& job, const std::vector<RankCharge>& charges,
                                         const JobCharge& all, const MatchedMessages& messages,
                                         const std::vector<Nanoseconds>& caused_by_messages, uint64_t stride);

} // namespace plumb::replay
