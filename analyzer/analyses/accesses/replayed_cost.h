// What accesses that cross lines cost in their loops, from running these loops again with aligned data.
#pragma once

#include "analyses/accesses/access_cost.h"
#include "model/run.h"

#include <unordered_map>

namespace plumb {

struct ReplayedCost {
    const model::ReplayedAccess* access = nullptr; // of the loop where it costs most
    AccessCost cost;
};

// By address of the instruction; those of loops that could not be replayed are left out. The difference of the two replays is
// what a loop loses, as a part of its sampled time; its crossing accesses share it by how often they cross and what that costs on
// this machine. It is `measured` where the program's own registers say that a round of the loop takes what the replay takes, and
// where the accesses lie alike in all samples; else `estimated`. A difference within the noise costs nothing.
std::unordered_map<uint64_t, ReplayedCost> replayed_costs(const model::Process& process,
                                                          const model::AccessPenalties* penalties);

} // namespace plumb
