#include "commands/run_to_place.h"

#include "analysis/open_run.h"
#include "diagnoses/mpi/recorded_traffic.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

network::RecordedTraffic run_to_place(const std::string& directory) {
    const auto opened = open_run(directory, {});
    const model::Run& run = opened->run;
    const auto job = std::ranges::max_element(run.mpi_jobs, {}, [](const model::MpiJob& each) { return each.elapsed_s * each.size; });
    if (job == run.mpi_jobs.end())
        throw UsageError(fmt::format("{}: this run has no MPI job. plumb run mpirun PROGRAM records one", directory));
    std::optional<network::RecordedTraffic> recorded = recorded_traffic(run, *job);
    if (!recorded)
        throw UsageError(fmt::format("{}: only {} of the {} ranks of this job were recorded; where all of them are must be known", directory,
                                     job->ranks.size(), job->size));
    recorded->run = directory;
    return std::move(*recorded);
}

} // namespace plumb
