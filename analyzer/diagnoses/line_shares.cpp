#include "diagnoses/line_shares.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

void LineShares::add(const model::SourceFrame& frame, double weight) {
    if (!(weight > 0))
        return;
    // A line belongs to one place whatever the function is called there (templates); without a line the function is
    // all there is.
    Line& line = lines_[{frame.module, frame.file, frame.line, frame.line ? std::string() : frame.function}];
    if (line.weight == 0)
        line.frame = frame;
    line.weight += weight;
    total_ += weight;
}

std::vector<Location> LineShares::heaviest(size_t limit, double least_share) const {
    std::vector<const Line*> order;
    for (const auto& [key, line] : lines_)
        order.push_back(&line);
    std::stable_sort(order.begin(), order.end(),
                     [](const Line* left, const Line* right) { return left->weight > right->weight; });
    std::vector<Location> locations;
    for (const Line* line : order) {
        const double share = line->weight / total_;
        if (locations.size() >= limit || (share < least_share && !locations.empty()))
            break;
        Location location;
        location.file = line->frame.file;
        location.function = line->frame.function;
        location.module = line->frame.module;
        location.line = line->frame.line;
        location.share = share;
        locations.push_back(location);
    }
    return locations;
}

std::string place_name(const Location& location) {
    if (location.line)
        return fmt::format("{}:{}", location.file, location.line);
    if (location.function.empty())
        return location.module;
    return fmt::format("{} in {}", location.function, location.module);
}

} // namespace plumb
