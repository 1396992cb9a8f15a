// From a run directory to a report on a stream or in a file: what `plumb report` and the end of `plumb run`
// do.
#pragma once

#include "analysis/open_run.h"
#include "analysis/report.h"

#include <cstdio>
#include <string>

namespace plumb {

struct ReportOptions : AnalysisOptions {
    std::string format = "text";   // text, json, html or timeline
    bool full = false;             // of the text: everything, not one screen; so it is with `only`
    size_t finding = 0;            // of the text: this finding alone, as the first screen numbers them; 0: all
    bool align_sites = false;      // the unaligned accesses alone, one a line
    std::string output;            // file to write; empty: the stream
};

// Prints nothing in a process of a job other than the first. Throws Error, with what to do: no such directory, not a run
// directory, of a newer version, nothing recorded, no timeline in it, or the output cannot be written. The stream gets the
// report whole or not at all; only a timeline is written as it is read.
void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream);

// The same of a report that was made already.
void print_made_report(const Report& report, const ReportOptions& options, std::FILE* stream);

} // namespace plumb
