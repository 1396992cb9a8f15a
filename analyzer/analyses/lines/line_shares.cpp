#include "analyses/lines/line_shares.h"

#include "analyses/lines/launch_command.h"
#include "model/call_paths.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

bool is_own_code(const model::SourceFrame& frame) {
    const bool stub = frame.line == 0 && frame.function.ends_with("@plt"); // made by the linker
    return !frame.module.empty() && frame.module != "[unknown]" && !stub && !model::is_system_module(frame.module);
}

// "lzma_code" for "lzma_code+0x177", but "gzip+0x4308" where not even the function is known.
std::string without_offset(const model::SourceFrame& frame) {
    const size_t offset = frame.function.rfind("+0x");
    return offset == std::string::npos || frame.function.compare(0, offset, frame.module) == 0
        ? frame.function : frame.function.substr(0, offset);
}

} // namespace

void LineShares::add(const model::SourceFrame& frame, double weight) {
    if (!(weight > 0))
        return;
    total_ += weight;
    if (!is_own_code(frame)) {
        unplaced_ += weight;
        return;
    }
    model::SourceFrame place = frame;
    if (place.line == 0) // the function is all there is, and its instructions are one place
        place.function = without_offset(frame);
    Line& line = lines_[model::source_line(place)];
    if (line.weight == 0)
        line.frame = place;
    line.weight += weight;
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
