// A job under several granularities, changes and sizes, each with several seeds.
//
// All runs of one seed meet the same events of noise, so a gain is that of pairs, which is known far better than two times.
#pragma once

#include "simulate/change.h"
#include "simulate/estimate.h"
#include "simulate/outcome.h"
#include "simulate/recorded_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumb::simulate {

struct StudyPlan {
    Setting base; // its work is replaced by each of the granularities
    std::vector<double> granularity_s;
    double imbalance = 0;         // the slowest rank's work above the mean's
    std::vector<Change> changes;  // each on its own
    std::vector<Change> together; // in one more setting
    std::vector<uint32_t> scales; // beside 1
    uint32_t seeds = 20;
    unsigned threads = 1;
    std::optional<Recorded> recorded; // the job is that of a run
};

struct WhatIf {
    std::string label;
    Estimate cycle_s;
    Estimate gain; // share of the base's time that is saved; below 0: it takes longer
};

struct ClassLoss {
    std::string name, group;
    double share = 0;  // of what noise adds to the cycles, by the last ranks
    double events = 0; // on CPUs of ranks in all runs, expected
};

struct AtGranularity {
    double work_s = 0;
    double quiet_cycle_s = 0;
    Estimate cycle_s;
    std::optional<Estimate> waited_s; // in a cycle, mean of the ranks; where each rank was followed (Job::follows_all)
    std::vector<WhatIf> changes; // in the order of the plan
    WhatIf together;
    std::vector<ClassLoss> classes; // in the order of the machine; empty where no rank is the last of a cycle (halo exchanges)
    LossByLength loss;              // sum of all seeds
};

struct AtScale {
    uint32_t ranks = 0, nodes = 0;
    std::vector<Estimate> cycle_s, changed_cycle_s; // at each granularity; with the changes together
    std::vector<double> quiet_cycle_s;
};

struct Study {
    StudyPlan plan;
    double collective_s = 0;
    std::vector<AtGranularity> granularities;
    std::vector<AtScale> scales; // ascending, with that of the job itself; empty where the plan has none
    std::vector<size_t> order;   // of the changes: the one that gains most first, summed over the granularities
    double events = 0;           // of noise on ranks' CPUs in all simulated time
    uint64_t looked_at = 0;      // ranks followed through a cycle
};

// Throws Error as changed() and simulate_job() do, before or while it simulates.
Study run_study(StudyPlan plan);

} // namespace plumb::simulate
