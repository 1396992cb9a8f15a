// Lays the files of the ranks of each MPI job side by side: who waited for whom, and why (model::MpiJob).
//
// The files of all ranks are read as streams, two times (once more when there are several hosts, and once more when ranks
// waited for messages): first who arrived when at each collective, and both ends of each message; then, knowing that, what
// each rank's calls cost it. Memory grows with
// ranks and with collectives, not with their product. The ranks are divided to threads, and to the processes of a team; the
// result does not depend on how many.
#pragma once

#include "model/run.h"
#include "replay/events/events.h"
#include "team/team.h"

namespace plumb::replay {

struct ReplayOptions {
    unsigned threads = 0; // 0: as many as the machine runs at once
    OpenTrace open = {};  // empty: by the path of the file
    bool steps = false; // MpiJob::steps is wanted; without a team
    team::Team* team = nullptr; // whose members all replay the same run; null: this process does it alone
};

// Fills run.mpi_jobs, one for each job with a rank that got through MPI_Init. A rank whose file cannot be read a second
// time is noted in run.notes and takes part with its counts alone. Throws nothing of its own, without a
// team. With one the leader alone gets the whole: the others have done their part when it returns.
void replay_mpi(model::Run& run, const ReplayOptions& options = {});

} // namespace plumb::replay
