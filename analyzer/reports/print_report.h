// From a run directory to a report on a stream or in a file: what `plumb report` and the end of `plumb run`
// do.
#pragma once

#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

struct ReportOptions {
    std::string format = "text";   // text, json, html or timeline
    bool align_sites = false;      // the unaligned accesses alone, one a line
    std::string only_file;         // glob of source files whose unaligned accesses are shown; empty: all
    std::string output;            // file to write; empty: the stream
    std::vector<std::string> only; // ids of diagnoses; empty: all
    std::vector<std::pair<std::string, std::string>>
        source_maps;     // path prefix in the debug info -> on this machine
    bool debuginfod = true; // ask the servers of $DEBUGINFOD_URLS for missing debug info
    bool redact = false;    // without arguments, host and user names, folders; so is every report of a run recorded so
    std::set<std::string> known_paths; // of files whose folders the run does not tell
    std::string sysroot; // where the files of the recorded machine are
    unsigned threads = 0;  // that analyse; 0: as many as the machine runs at once
    // The launcher's job that this process is one of several of, all with the same options (mpirun -n N plumb report RUN):
    // they share the work, and the first prints. Empty: it is alone.
    std::string job;
    size_t process = 0, processes = 1;
};

// Prints nothing in a process of a job other than the first. Throws Error, with what to do: no such directory, not a run
// directory, of a newer version, nothing recorded, no timeline in it, or the output cannot be written. The stream gets the
// report whole or not at all; only a timeline is written as it is read.
void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream);

} // namespace plumb
