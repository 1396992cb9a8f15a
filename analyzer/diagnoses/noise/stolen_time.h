// Time that the hypervisor and interrupts took from the CPUs of a job's ranks. No record says when within an interval of the
// node's counters, so that what it cost the job is known as a bound only.
#pragma once

#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

struct StolenTime {
    double steal_s = 0, interrupt_s = 0; // CPU seconds, on CPUs that ranks ran on, while the job ran
    double cpu_s = 0;                    // of these CPUs altogether
    std::vector<std::pair<std::string, double>> sources; // of interrupts there: a second and CPU, the most first

    double steal_share() const { return cpu_s > 0 ? steal_s / cpu_s : 0; }
    double interrupt_share() const { return cpu_s > 0 ? interrupt_s / cpu_s : 0; }
};

StolenTime stolen_time(const model::Run& run, const model::MpiJob& job);

// What all of it can have cost the job at most: no two of these times fell together, and no more than the ranks waited for one
// another. Seconds.
double most_lost_s(const model::MpiJob& job, double stolen_s);

} // namespace plumb
