// The pipeline from a run directory to everything that a report shows, whatever its form:
//   read (trace/) -> replay of MPI (replay/) -> resolver of addresses (symbols/)   open_run.h
//   -> analyses -> diagnoses (diagnoses/) -> report                                 build_report.h
// Every command that wants to know what is wrong with a run comes in here.
#pragma once

#include "analysis/open_run.h"
#include "analysis/report.h"

#include <memory>
#include <string>

namespace plumb {

struct AnalysedRun {
    std::unique_ptr<OpenedRun> opened; // `report` refers to it
    Report report;
};

// Throws Error: what open_run() throws, and for an id in options.only that no diagnosis has.
AnalysedRun analyse_run(const std::string& directory, const AnalysisOptions& options);

} // namespace plumb
