#include "commands/run_to_simulate.h"

#include "analysis/open_run.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

simulate::RecordedJob run_to_simulate(const std::string& directory) {
    AnalysisOptions options;
    options.mpi_steps = true;
    const auto opened = open_run(directory, options);
    const model::Run& run = opened->run;
    const auto largest = std::ranges::max_element(run.mpi_jobs, {}, [](const model::MpiJob& job) {
        return job.elapsed_s * job.size;
    });
    if (largest == run.mpi_jobs.end())
        throw UsageError(fmt::format("{}: this run has no MPI job to simulate. plumb run mpirun PROGRAM records one; --noise "
                                     "FILE --ranks N simulates a job that was not recorded",
                                     directory));
    if (static_cast<int>(largest->ranks.size()) < largest->size)
        throw UsageError(fmt::format("{}: only {} of the {} ranks of this job were recorded; a simulation needs what each of them "
                                     "did",
                                     directory, largest->ranks.size(), largest->size));
    if (largest->steps.ranks == 0)
        throw UsageError(fmt::format("{}: this job has fewer than two collectives in which all of its {} wait for one another, and "
                                     "these are what a simulation goes by{}",
                                     directory, counted(static_cast<uint64_t>(largest->size), "rank", "ranks"),
                                     run.notes.empty() ? "" : "; " + run.notes.front()));
    simulate::RecordedJob job = simulate::recorded_job(largest->steps);
    job.facts.run = directory;
    return job;
}

} // namespace plumb
