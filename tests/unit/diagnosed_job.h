// Diagnoses of a made-up MPI job; names some addresses of its program, and the call sites.
#pragma once

#include "synthetic_job.h"
#include "synthetic_run.h"

namespace plumb::testing {

inline constexpr uint64_t kWork = SyntheticJob::kProgram + 0x80000, kExtra = SyntheticJob::kProgram + 0x90000,
                          kOther = SyntheticJob::kProgram + 0xa0000; // app.c, lines 10, 20 and 30

struct Diagnosed {
    explicit Diagnosed(SyntheticJob& made) : run(made.replay()) {
        resolver.frames[kWork] = {{"work", "app.c", 10, "app", false}};
        resolver.frames[kExtra] = {{"write_log", "app.c", 20, "app", false}};
        resolver.frames[kOther] = {{"check", "app.c", 30, "app", false}};
        uint32_t line = 100;
        for (const char* call : {"MPI_Allreduce", "MPI_Send", "MPI_Recv", "MPI_Bcast"})
            resolver.frames[SyntheticJob::call_address(call)] = {{"step", "app.c", line++, "app", false}};
    }

    // CPU time of a rank at an address of the program.
    void sample(int rank, uint64_t address, double seconds) {
        model::Process& process = run.processes[static_cast<size_t>(rank)];
        process.paths.push_back({.parent = 0, .address = address, .leaf = true});
        const auto samples = static_cast<uint64_t>(seconds * 1e3);
        process.samples.push_back({0, static_cast<uint32_t>(process.paths.size() - 1), samples, samples * 1'000'000, 0});
    }

    // The ranks' time without a CPU, as the scheduler would tell; `of`: of one rank only.
    void starve(double share, int of = -1) {
        for (model::MpiRankRow& row : run.mpi_jobs.at(0).ranks)
            if (of < 0 || row.rank == of)
                row.run_delay_s = share * row.elapsed_s;
    }

    std::vector<Finding> findings(const char* id) { return findings_of(id, run, resolver); }

    model::Run run;
    TableResolver resolver;
};

} // namespace plumb::testing
