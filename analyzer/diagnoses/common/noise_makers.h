// Who makes a job lose time by taking its CPUs now and then: what the diagnoses of noise share, and what others ask so that a cause
// is reported once.
#pragma once

#include "diagnoses/diagnosis.h"
#include "model/mpi_job.h"

#include <string>
#include <vector>

namespace plumb {

// What makes a job lose enough to be reported, the costliest first. Whoever holds a CPU for a large part of the time shares it
// with the job for good: that is no noise (cpu-oversubscribed).
std::vector<const model::NoiseTaker*> noise_makers(const model::Run& run, const model::MpiJob& job);

// A team of OpenMP whose threads lose their CPUs, so that the others wait for them at the ends of regions.
struct TeamNoise {
    uint32_t process = 0;                     // index into Run::processes
    const model::OmpRegion* region = nullptr; // where most is lost
    double lost_s = 0;                        // wall time, whoever took the CPUs
    double elapsed_s = 0;                     // of the process
    std::vector<model::NoiseTaker> makers;    // as above; lost_s: by their part of the time that was taken
};

// Of each process that is no rank of an MPI job: there the ranks are what is waited for.
std::vector<TeamNoise> team_noises(const model::Run& run);

// Wall time that a job loses to them together; of the run: the job or team that loses most.
double noise_seconds(const model::Run& run, const model::MpiJob& job);
double noise_seconds(const model::Run& run);

// ... and to programs that share CPUs of this host with its ranks for good: most of any job. 0: no job could be replayed.
double sharing_seconds(const model::Run& run, const model::Host& host);

// "pollerd", "chronyd and sshd", "cc1plus and 4 other programs"
std::string maker_words(const model::NoiseTaker& taker);

std::string taken_cpus_words(const model::NoiseTaker& taker); // "CPU 3", "CPUs 0 to 3", "CPUs of 12 nodes"

} // namespace plumb
