// What diagnoses found, made fit for a report.
#pragma once

#include "analysis/report.h"

#include <functional>
#include <string>
#include <vector>

namespace plumb {

// Adds what `diagnose` finds to the report. One that fails loses its own findings only: the failure becomes missing evidence.
// Figures that odd records led to (a run of no length, clocks that jump) are set right: they must not break a reader.
void take_findings(const std::string& id, const std::function<std::vector<Finding>()>& diagnose, Report& report);

// By severity, then by cost.
void sort_findings(std::vector<Finding>& findings);

} // namespace plumb
