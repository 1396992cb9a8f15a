// What every form of the report says about an MPI job: where the ranks' time went, at which lines, and for whom it was
// waited.
#pragma once

#include "model/call_paths.h"
#include "model/mpi_job.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb {

struct MpiSiteLine { // one call site, with the line of the user's own code
    const model::MpiCallSite* site = nullptr;
    model::SourceFrame frame;
    std::vector<model::SourceFrame> callers; // the user's own, innermost first
    bool starts_or_ends = false; // MPI itself, which takes none of the time that fractions are of
};

// What the user's model says of the cycles (cycle_expectation.h).
struct CycleExpectation {
    std::string why_not; // empty: the rest is known
    double expected_s = 0;
    double ratio = 0; // measured / expected, mean of all cycles
    struct Change {   // of the ratio in the course of the run
        uint64_t cycle = 0; // first one after it, from 0
        double at_s = 0;    // since the job began
        double before = 0, after = 0;
        bool is_gradual = false; // there is no such moment
    };
    std::optional<Change> change; // only where it is significant
};

struct MpiSummary { // refers to the job
    const model::MpiJob* job = nullptr;
    std::string library; // "Open MPI 4.1.4", "MPICH", "MPI" where it is not known
    // Share of its time that a rank spent in MPI: mean, and the ranks at both ends.
    double mpi_fraction = 0, least_fraction = 0, most_fraction = 0;
    int least_rank = -1, most_rank = -1;
    std::vector<MpiSiteLine> sites; // by time
    std::vector<const model::MpiRankRow*> awaited; // ranks that others waited for most, by that time; only noticeable ones
    model::SourceFrame cycle_frame; // of the call site from which cycles are counted
    std::optional<CycleExpectation> expectation; // where there is a model
};

std::vector<MpiSummary> summarise_mpi(model::CallPaths& paths, size_t most_sites);

// "Open MPI", "MPICH", "MPI (standard ABI)"; "" where it is not known.
std::string mpi_library_name(model::MpiProcess::Library library);

// "of the ranks' time": mean over ranks, 0 of a job of no length.
double fraction_of_job(const model::MpiJob& job, double rank_seconds);

// Mean bytes of what had any in it, 0: nothing had. Of messages, of accesses to windows and files: each (MPI_Sendrecv makes
// two). Of collectives: what a rank contributes to a call; of data from a root: what it gets of them, and the root of a
// broadcast sends.
double mean_bytes(const model::MpiCallSite& site);

// Of the lines that take part of the ranks' time, the first `most`.
std::vector<const MpiSiteLine*> lines_within_job(const MpiSummary& summary, size_t most);

// Why a rank came late, the heaviest reason first: "it computed more", "waiting for rank 3".
std::string lateness_words(const model::MpiRankRow& row);

} // namespace plumb
