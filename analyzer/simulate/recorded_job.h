// A job as it was recorded: the work of its ranks from step to step, and the classes of noise that took their CPUs away.
#pragma once

#include "model/mpi_steps.h"
#include "simulate/change.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::simulate {

// Who took CPUs away from ranks.
struct RecordedTaker {
    std::string name;    // of its class of noise in the setting
    double taken_s = 0;  // rank-seconds
    std::vector<model::NoiseClass> classes; // found in its events, the greatest first; only to describe it
};

// What the recording says, to be laid beside the simulation.
struct Recorded {
    std::string run;
    uint64_t steps = 0, all_steps = 0; // kept; of the job
    double work_s = 0;    // of a step: mean of the ranks, without noise
    double step_s = 0;    // mean length
    double waited_s = 0;  // for how long a rank waited for others in a step, mean of ranks and steps
    double taken_s = 0;   // rank-seconds that noise took
    std::vector<RecordedTaker> takers;
    // Rank-seconds that other ranks, plumb, or nobody known took: they are work of the ranks in the simulation.
    double other_taken_s = 0;
    double recorded_share = 1; // of the time that ranks had no CPU, what is known one by one; the rest is work as well
    bool own_noise = true;     // the classes are those of the run
    double waited_before_share = 0; // of waited_s, for messages and for some of the ranks, before the end of a step
    uint64_t message_stride = 1;    // one in so many messages was kept; waiting for the others is work
};

struct RecordedJob {
    Setting setting; // its work is that of a step of 1 s, to be multiplied
    Recorded facts;
};

// Throws UsageError where such a job cannot be simulated: hosts with different numbers of ranks.
RecordedJob recorded_job(const model::MpiSteps& steps);

} // namespace plumb::simulate
