#include "commands/run_to_place.h"

#include "analysis/open_run.h"
#include "diagnoses/mpi/recorded_traffic.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

PlacedJob run_to_place(const std::string& directory) {
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
    PlacedJob placed{std::move(*recorded), std::vector<std::map<int, double>>(job->ranks.size()), {}};
    for (const model::MpiRankRow& row : job->ranks)
        for (const model::Thread& thread : run.processes[row.process].threads)
            for (const model::ThreadInterval& interval : thread.intervals)
                if (interval.cpu >= 0)
                    placed.seconds_on_cpu[static_cast<size_t>(row.rank)][interval.cpu] += static_cast<double>(interval.run_ns) * 1e-9;
    for (const model::Host& host : run.hosts)
        if (!host.topology.xml.empty())
            placed.topologies.emplace(host.name, host.topology.xml);
    return placed;
}

} // namespace plumb
