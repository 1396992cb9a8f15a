// The timelines of the ranks of a run (plumb run --timeline): their latest MPI calls, one by one, on one clock.
#pragma once

#include "replay/replay.h"

#include <functional>
#include <vector>

namespace plumb::replay {

struct RankTimeline {
    size_t job;       // number of the job in the run, from 0
    uint32_t process; // index into Run::processes
    std::vector<TimelineCall> calls; // by begin
};

// One rank after the other: memory for the calls of one. Ranks that kept none are left out. Throws plumb::Error when a file
// cannot be read.
void visit_timelines(const model::Run& run, const ReplayOptions& options, const std::function<void(const RankTimeline&)>& visit);

} // namespace plumb::replay
