// What the ranks of a job did between its collectives of all ranks, as a simulation of the job needs it: the job without its
// noise, and the noise. Bounded: 16 million times.
#pragma once

#include "model/noise.h"

#include <cstdint>
#include <vector>

namespace plumb::model {

// A step goes from the last arrival at one such collective to the last arrival at the next. The first one of the job is left
// out: ranks come to it as they were started.
struct MpiSteps {
    uint32_t ranks = 0;            // in columns: by host, then by rank. 0: the steps are not known
    std::vector<uint32_t> ranks_on; // of each host with ranks
    uint32_t cpus_per_node = 0; // that the job could have used on its smallest host
    uint64_t steps = 0;            // kept, in blocks of consecutive ones
    uint64_t all_steps = 0;        // of the job

    // From the begin of the step until the rank came to its end, without what is known to be noise, and without waiting for the
    // messages of other ranks, or for some of them in collectives: these wait for the work of others. [step * ranks + column]
    std::vector<float> work_s;
    double operation_s = 0; // mean, from the last arrival until a rank leaves the collective
    double elapsed_s = 0;   // of the kept steps, as recorded
    double waited_s = 0;    // of it, how long a rank waited for others, mean of the ranks
    double waited_before_s = 0; // of that, before it came to the end of a step
    uint64_t message_stride = 1; // one in so many messages was kept: waiting for the others is work

    // Those that are noise. Losses: node is the place in ranks_on, cpu the place of the rank among those of its host, measured
    // from the first collective to the last.
    std::vector<NoiseTaker> takers;
    double taken_s = 0;        // rank-seconds that these took
    double other_taken_s = 0;  // and those who are not known, other ranks or plumb: still in work_s
    double recorded_share = 1; // of the time that ranks had no CPU, what is known one by one
};

} // namespace plumb::model
