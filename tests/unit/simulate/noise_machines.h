// Machines and jobs for tests of the simulator.
#pragma once

#include "model/noise.h"
#include "simulate/job.h"

#include <string>

namespace plumb {

// Periodic, of constant length, one CPU of each node, each node at its own moments.
inline model::NoiseClass noise_class(std::string name, double period_s, double length_s) {
    model::NoiseClass result;
    result.name = std::move(name);
    result.frequency_hz = 1 / period_s;
    result.duration.mean_s = length_s;
    return result;
}

// One rank on each CPU of each node, and a collective that takes no time.
inline simulate::Job job_of(uint32_t ranks, uint32_t per_node, double work_s, uint32_t cycles) {
    simulate::Job job;
    job.ranks = ranks;
    job.ranks_per_node = job.cpus_per_node = per_node;
    job.cycle_work_s = {work_s};
    job.cycles = cycles;
    return job;
}

} // namespace plumb
