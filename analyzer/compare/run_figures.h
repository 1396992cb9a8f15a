// What of a run is compared with other runs: figures under names that mean the same in each of them.
#pragma once

#include "analysis/report.h"

#include <map>
#include <string>

namespace plumb {

struct ComparedFinding {
    std::string title; // of the latest run that had it
    double gain = 0;   // of the run's wall time
    Severity severity = Severity::info;
};

struct RunFigures {
    std::string program; // the command line
    double wall_s = 0, cpu_s = 0;
    std::map<std::string, double> metrics; // by name; of unit
    std::map<std::string, std::string> units;
    std::map<std::string, double> lines_s;     // CPU time by "function at file:line"; the file without its folders
    std::map<std::string, double> functions_s; // CPU time by the function that the line is in
    std::map<std::string, double> libraries_s; // by name
    // By id and by what it is about: a place in the source, or a subject. Numbers of processes and the like change from run to run.
    std::map<std::string, ComparedFinding> findings;
};

// "function at file:line", the file without its folders; "function in module" without debug information.
std::string place_of(const model::SourceFrame& frame);

RunFigures figures_of(const Report& report);

} // namespace plumb
