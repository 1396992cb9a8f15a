// One run of one job on one machine: the door of the simulator. Scenarios and seeds are study.h's.
#pragma once

#include "model/noise.h"
#include "simulate/job.h"
#include "simulate/outcome.h"

#include <cstdint>

namespace plumb::simulate {

// The same for the same arguments, on any machine and any number of threads. Of a halo exchange, and where the
// job asks for it, every rank is followed, else only those that can be the last. Throws Error where the job or the noise cannot be simulated (job.h, rank_noise.h).
// Thread-safe.
Outcome simulate_job(const Job& job, const model::NoiseMachine& machine, uint64_t seed);

// When the job starts, in the time of the noise: late enough for noise that is under way at any moment to be so at the start.
double job_start_s(const model::NoiseMachine& machine);

} // namespace plumb::simulate
