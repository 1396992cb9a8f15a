// Pools of threads that do the same work, of which some are done before others: what that costs.
//
// At a barrier of n threads each second that one of them waits is 1/n second that all could have been earlier. Of a pool that is
// joined, the same holds for the time between one thread's end and the last one's. Neither counts beyond what the late thread
// runs more than the mean: threads with equal work wait for one another, too, when they are interrupted or have no CPU; nor
// beyond what the CPUs allow.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/diagnosis.h"
#include "diagnoses/wait/wait_replay.h"
#include "model/call_paths.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb {

struct LateThreads {
    uint32_t process = 0; // index into Run::processes
    bool at_barrier = false;
    size_t members = 0;                // threads of the pool
    std::map<uint32_t, double> late_s; // by thread: how long others waited for it; never empty
    double waiting_s = 0;              // of all threads together
    double saved_s = 0;                // of wall time, had all been equal
    double mean_run_s = 0, late_run_s = 0; // of all of them, and of the one that is waited for longest; the sum over pools
    uint64_t looks = 0; // that found somebody waiting
    LineShares waiting_at;
};

// The user's function that a thread began with, by its heaviest path; empty: not known.
std::string work_of(model::CallPaths& paths, uint32_t process, uint32_t thread);

std::vector<LateThreads> late_threads(const DiagnosisInput& input, const WaitReplay& replay);

} // namespace plumb
