// What of a run is compared with other runs: figures under names that mean the same in each of them.
#pragma once

#include "analysis/report.h"
#include "compare/compared_place.h"
#include "compare/run_conditions.h"
#include "compare/wall_parts.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace plumb {

struct ComparedFinding {
    std::string title; // of the latest run that had it
    double gain = 0;   // of the run's wall time
    Severity severity = Severity::info;
};

struct LineTime {
    ComparedPlace place;
    double seconds = 0; // CPU time
};

struct AllocationSite {
    ComparedPlace place;
    double calls = 0, bytes = 0;
};

struct MpiSiteFigures { // of all ranks together
    ComparedPlace place;
    std::string call;
    double calls = 0, bytes = 0; // bytes: sent, and received
    double seconds = 0;
};

struct RunFigures {
    std::string program; // the command line
    double wall_s = 0, cpu_s = 0;
    std::map<std::string, WallPart> wall_parts; // what the wall time was spent on, in words; together the wall time
    RunConditions conditions;
    std::map<std::string, double> metrics; // by name; of unit
    std::map<std::string, std::string> units;
    std::vector<LineTime> lines;
    std::map<std::string, double> functions_s; // CPU time by the function that the line is in
    std::map<std::string, double> libraries_s; // by name
    std::vector<AllocationSite> allocations;
    bool allocations_are_exact = false; // every one was recorded; else they are estimates
    std::vector<MpiSiteFigures> mpi_sites;
    // By id and by what it is about: a place in the source, or a subject. Numbers of processes and the like change from run to run.
    std::map<std::string, ComparedFinding> findings;
    CallTreeNode call_tree; // empty unless the report has one
    std::map<std::string, std::string> build_ids;               // of programs and libraries, by name without folders
    std::map<std::string, std::set<std::string>> source_texts; // SourceLines::texts()
};

// Of a report with every line and call site (AnalysisOptions::every_line): what is missing counts as 0.
// `given_sources`: folders whose files the user named as the sources of this build.
RunFigures figures_of(const Report& report, const std::vector<std::string>& given_sources = {});

} // namespace plumb
