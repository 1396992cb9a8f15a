// Machines and jobs for tests of the simulator.
#pragma once

#include "model/noise.h"
#include "simulate/job.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace plumb {

// Periodic, of constant length, one CPU of each node, each node at its own moments.
inline model::NoiseClass noise_class(std::string name, double period_s, double length_s) {
    model::NoiseClass result;
    result.name = std::move(name);
    result.frequency_hz = 1 / period_s;
    result.duration.mean_s = length_s;
    return result;
}

// Events that were recorded one by one, by node, CPU and time.
inline model::NoiseClass recorded_noise_class(std::string name, model::NoiseLosses losses) {
    model::NoiseClass result;
    result.name = std::move(name);
    result.regularity = model::NoiseClass::Regularity::recorded;
    result.scope = model::NoiseClass::Scope::cpu;
    result.frequency_hz = static_cast<double>(losses.losses.size()) / losses.measured_s / losses.nodes / losses.cpus_per_node;
    result.duration.shape = model::NoiseDuration::Shape::measured;
    double most_s = 0, sum_s = 0;
    for (const model::NoiseLoss& loss : losses.losses) {
        most_s = std::max(most_s, loss.length_s);
        sum_s += loss.length_s;
    }
    result.duration.mean_s = sum_s / static_cast<double>(losses.losses.size());
    result.duration.quantiles_s = {0, most_s};
    for (uint32_t cpu = 0; cpu < losses.cpus_per_node; cpu++)
        result.cpus.push_back(static_cast<int>(cpu));
    result.recorded = std::make_shared<const model::NoiseLosses>(std::move(losses));
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
