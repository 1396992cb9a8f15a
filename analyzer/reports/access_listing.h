// Unaligned accesses one a line, as compilers write warnings, so that editors jump to them.
#pragma once

#include "analysis/report.h"

#include <string>

namespace plumb {

// "sweep.f90:20: unaligned 8-byte load of common block /pair/ member x (offset 4), 1,000,000 times exact, 125,000
// across cache lines, 1,953 across pages, 1.20 ms estimated [common block order]"
std::string access_text(const AccessLine& line);

// The same in parts, for tables. "1,000,000 times exact" or "at least 20 times"; "" when only samples saw it.
std::string access_count_text(const AccessLine& line);
// "125,000 across cache lines, 1,953 across pages", of the time when only samples saw it; "" when none crosses.
std::string crossings_text(const AccessLine& line);
// "1.20 ms estimated"; "" when nothing was measured.
std::string access_cost_text(const AccessLine& line);

// Every line of the report's accesses, by cost; one sentence when there are none. Names are made harmless.
std::string access_listing(const Report& report);

} // namespace plumb
