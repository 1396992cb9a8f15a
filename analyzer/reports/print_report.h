// From a run directory to a report on a stream or in a file: what `plumb report` and the end of `plumb run`
// do.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace plumb {

struct ReportOptions {
    std::string format = "text";   // text, json or html
    bool align_sites = false;      // the unaligned accesses alone, one a line
    std::string only_file;         // glob of source files whose unaligned accesses are shown; empty: all
    std::string output;            // file to write; empty: the stream
    std::vector<std::string> only; // ids of diagnoses; empty: all
    std::vector<std::pair<std::string, std::string>>
        source_maps;     // path prefix in the debug info -> on this machine
    std::string sysroot; // where the files of the recorded machine are
};

// Throws Error, with what to do: no such directory, not a run directory, of a newer version, nothing
// recorded, or the output cannot be written. The stream gets the report whole or not at all.
void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream);

} // namespace plumb
