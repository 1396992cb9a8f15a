// What a kernel's log says of programs and of the machine, with the source lines.
#pragma once

#include "kernel_log/gathered.h"
#include "kernel_log/places.h"

#include <string>
#include <vector>

namespace plumb::kernel_log {

struct PlacedGroup {
    Group group;
    Place place;
};

struct Study {
    std::string log; // its file
    uint64_t lines = 0, messages = 0, left_out = 0;
    std::vector<PlacedGroup> groups; // by count, the largest first
    std::map<std::string, uint64_t> suppressed;

    bool has(Kind kind) const;
};

// Throws Error where the log cannot be read.
Study study_log(const std::string& log, Places& places);

} // namespace plumb::kernel_log
