// The first stages of an analysis: the files of a run are read, the events of MPI ranks laid side by side, and addresses
// made resolvable.
#pragma once

#include "model/call_paths.h"
#include "model/run.h"
#include "model/source_resolver.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

struct AnalysisOptions {
    std::vector<std::string> only; // ids of diagnoses; empty: all
    std::string only_file;         // glob of source files whose unaligned accesses are reported; empty: all
    std::vector<std::pair<std::string, std::string>>
        source_maps;     // path prefix in the debug info -> on this machine
    bool debuginfod = true; // ask the servers of $DEBUGINFOD_URLS for missing debug info
    bool redact = false;    // without arguments, host and user names, folders; so is every report of a run recorded so
    std::set<std::string> known_paths; // of files whose folders the run does not name
    std::string sysroot; // where the files of the recorded machine are
    std::string model_file; // expected seconds of a cycle by the number of ranks (cycle_model.h); empty: none
    bool mpi_steps = false; // MpiJob::steps is wanted: what ranks did between collectives, for a simulation
    bool call_tree = false; // Report::call_tree is wanted: it names every function on every call path
    bool every_line = false; // the report holds all lines of the profile and all call sites, not only the first ones
    unsigned threads = 0;  // that analyse; 0: as many as the machine runs at once
    // This process is one of several of a launcher's job, all with the same options (mpirun -n N plumb report RUN): they
    // share the work, and the first gets the report.
    size_t process = 0, processes = 1;
};

struct OpenedRun {
    std::string why_alone; // without the job's other processes; empty: with them, or there are none
    model::Run run;
    std::unique_ptr<model::SourceResolver> resolver; // refers to `run`
    bool redact = false; // asked for, or recorded so
    model::CallPaths paths() { return model::CallPaths(run, *resolver); }
};

// Throws Error, with what to do: no such directory, not a run directory, of a newer version, nothing recorded.
std::unique_ptr<OpenedRun> open_run(const std::string& directory, const AnalysisOptions& options);

// Without the replay: its MPI calls are read one rank after the other, by one process.
std::unique_ptr<OpenedRun> open_run_alone(const std::string& directory, const AnalysisOptions& options);

// The part that a process of a job has in open_run() when it is not the first. The first one says what is wrong with a run,
// and does what is left undone here.
void help_open_run(const std::string& directory, const AnalysisOptions& options);

} // namespace plumb
