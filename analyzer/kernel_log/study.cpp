#include "kernel_log/study.h"

#include <algorithm>

namespace plumb::kernel_log {

bool Study::has(Kind kind) const {
    return std::ranges::any_of(groups, [&](const PlacedGroup& each) { return each.group.first.kind == kind; });
}

Study study_log(const std::string& log, Places& places) {
    Gathered gathered;
    read_log(log, gathered);
    Study study{.log = log, .lines = gathered.lines, .messages = gathered.messages(), .left_out = gathered.left_out(), .groups = {},
                .suppressed = gathered.suppressed()};
    for (Group& group : gathered.groups()) {
        Place place = places.of(group);
        study.groups.push_back({std::move(group), std::move(place)});
    }
    return study;
}

} // namespace plumb::kernel_log
