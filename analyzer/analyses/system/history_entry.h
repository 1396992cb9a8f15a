// An interval of a machine's history, as it was kept.
#pragma once

#include "analyses/system/system_summary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

struct HistoryFinding {
    std::string id, severity, title;
    double gain_fraction = 0;
};

struct HistoryEntry {
    uint64_t begin_unix_ns = 0, end_unix_ns = 0;
    std::string host;
    SystemSummary system; // of programs and routines those with the most time
    std::vector<HistoryFinding> findings;
};

} // namespace plumb
