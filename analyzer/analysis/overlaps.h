// Findings that report the same time from two sides: a wait, and what the kernel does for it. Their gains do not add up.
#pragma once

#include "diagnoses/finding.h"

#include <vector>

namespace plumb {

// Fills Finding::overlaps, for findings that have a severity, in the order of the report.
void mark_overlaps(std::vector<Finding>& findings);

} // namespace plumb
