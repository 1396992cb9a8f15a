#include "simulate/simulate_job.h"

#include "simulate/duration_draw.h"
#include "simulate/every_rank.h"
#include "simulate/last_rank.h"

#include <algorithm>

namespace plumb::simulate {

namespace {

constexpr double kLongMeans = 10; // a tail beyond so many means need not be under way at the start

} // namespace

double job_start_s(const model::NoiseMachine& machine) {
    double sum_s = 0;
    for (const model::NoiseClass& one : machine.classes)
        sum_s += std::min(longest_length_s(one.duration), kLongMeans * one.duration.mean_s);
    return 2 * sum_s;
}

Outcome simulate_job(const Job& job, const model::NoiseMachine& machine, uint64_t seed) {
    check_job(job);
    const RankNoise noise(machine, job, seed);
    return is_halo(job.collective) || job.follows_all ? simulate_every_rank(noise, job_start_s(machine))
                                   : simulate_last_rank(noise, job_start_s(machine));
}

} // namespace plumb::simulate
