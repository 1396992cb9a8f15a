// Regions that the program named through the public API, all processes of the run together.
#pragma once

#include "model/run.h"

#include <string>
#include <vector>

namespace plumb {

struct RegionRow {
    std::string name;
    uint64_t entries = 0, open = 0; // open: of the entries, never left
    double seconds = 0;             // wall time inside, summed over threads
    double longest_seconds = 0;     // of one entry
    size_t threads = 0, processes = 0;
    double fraction = 0; // of the run, mean of the threads that entered it; above 1 where entries nest
};

std::vector<RegionRow> region_table(const model::Run& run); // by time; empty: none was named

} // namespace plumb
