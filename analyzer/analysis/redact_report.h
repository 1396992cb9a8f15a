// What `plumb report --redact` leaves out of a report that others are to see: arguments of programs, names of hosts and
// users, folders of files, quoted source lines. Left in: names of files, functions, variables, threads, processes and
// whatever else the program named, line numbers, figures.
#pragma once

#include "analysis/report.h"

#include <string>
#include <vector>

namespace plumb {

// Before the report is built: its advice repeats the command.
void forget_arguments(model::Run& run);

// Changes `report` and the run it refers to. `paths`: further ones that its texts may hold, relative or absolute.
void redact_report(Report& report, model::Run& run, const std::vector<std::string>& paths);

} // namespace plumb
