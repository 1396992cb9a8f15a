#include "run_checks.h"

#include <cstdlib>

namespace plumb::fuzz {

void check_run(const model::Run& run) {
    for (const model::Process& process : run.processes) {
        if (process.paths.empty())
            std::abort();
        for (size_t i = 1; i < process.paths.size(); ++i)
            if (process.paths[i].parent >= i)
                std::abort();
        for (const model::SampleSite& site : process.samples)
            if (site.path >= process.paths.size() || site.thread >= process.threads.size())
                std::abort();
        for (const model::HeapSite& site : process.heap.sites)
            if (site.path >= process.paths.size())
                std::abort();
        for (const model::UnalignedSite& site : process.alignment.sites) {
            if (site.address == 0 || site.path >= process.paths.size())
                std::abort();
            for (const model::UnalignedThread& thread : site.threads)
                if (thread.thread >= process.threads.size())
                    std::abort();
            for (const model::UnalignedAddress& access : site.addresses)
                if (access.thread >= process.threads.size() || access.block_path >= process.paths.size())
                    std::abort();
        }
        if (process.mpi) {
            for (const model::MpiSite& site : process.mpi->sites)
                if (site.path >= process.paths.size() || site.thread >= process.threads.size())
                    std::abort();
            for (const model::MpiComm& comm : process.mpi->comms)
                if (comm.path >= process.paths.size())
                    std::abort();
        }
        for (const model::Thread& thread : process.threads)
            if (thread.creation_path >= process.paths.size())
                std::abort();
    }
}

void add_neighbours(model::Run& run) {
    for (size_t i = 0, count = run.processes.size(); i < count; ++i)
        if (run.processes[i].mpi && run.processes[i].mpi->rank >= 0 && run.processes[i].paths.size() < 10'000) {
            model::Process neighbour = run.processes[i];
            neighbour.mpi->rank = neighbour.mpi->rank == 0 ? 1 : neighbour.mpi->rank - 1;
            run.processes.push_back(std::move(neighbour));
        }
}

void check_jobs(const model::Run& run) {
    for (const model::MpiJob& job : run.mpi_jobs) {
        for (const model::MpiRankRow& row : job.ranks)
            if (row.process >= run.processes.size() || row.host >= run.hosts.size())
                std::abort();
        for (const model::MpiCallSite& site : job.sites)
            if (site.process >= run.processes.size() || site.path >= run.processes[site.process].paths.size() ||
                (site.comm != model::MpiCallSite::kNoComm && site.comm >= job.comms.size()))
                std::abort();
        if (job.arrivals.mean_s.size() != job.arrivals.rows.size() * job.arrivals.columns.size())
            std::abort();
    }
}

} // namespace plumb::fuzz
