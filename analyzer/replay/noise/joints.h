// The collectives of a job that no rank leaves before all have come: they divide its time into steps.
#pragma once

#include "replay/collectives/epochs.h"
#include "replay/events/job.h"

#include <cstdint>
#include <vector>

namespace plumb::replay {

struct Joints {
    static constexpr uint32_t kNoPlace = UINT32_MAX;

    std::vector<uint32_t> place_of;   // by epoch; kNoPlace: it is none
    std::vector<Nanoseconds> arrival; // of the last rank, by place, in the order of time
    bool all_are_here = true;         // none was thinned out

    Joints(const Job& job, const EpochTable& table);
};

} // namespace plumb::replay
