// Two ranks that work in turns, where the second wait is for a collective: what the charges of the ranks saw of them.
#pragma once

#include "replay/charges.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

// Adds these turns to the chains of the job. `stride`: collectives that each one laid side by side stands for.
void add_turns(const model::Run& run, const Job& job, const std::vector<RankCharge>& charges, uint64_t stride,
               model::MpiChains& chains);

} // namespace plumb::replay
