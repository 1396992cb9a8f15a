// What the wall time of a run was spent on.
#pragma once

#include "analysis/report.h"

#include <map>
#include <string>

namespace plumb {

struct WallPart {
    double seconds = 0;
    bool is_work = false; // on a CPU, and not to wait: other conditions may make it faster
};

// By what they are in words. Together the wall time.
std::map<std::string, WallPart> wall_parts_of(const Report& report);

} // namespace plumb
