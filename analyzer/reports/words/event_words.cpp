#include "reports/words/event_words.h"

#include "support/figures.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace plumb {

namespace {

std::string heaviest(const char* by, std::vector<std::string> parts, size_t limit) {
    const size_t left_out = parts.size() - std::min(parts.size(), limit);
    parts.resize(parts.size() - left_out);
    return fmt::format("{}: {}{}", by, fmt::join(parts, ", "), left_out > 0 ? fmt::format(", and {} more", left_out) : "");
}

} // namespace

std::string event_title(const SampledEventRow& row) {
    std::string title = row.event;
    if (!title.empty())
        title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    return fmt::format("{} by source line, {}", title, counted(row.samples, "sample", "samples"));
}

std::string event_threads(const SampledEventRow& row, size_t limit) {
    if (row.threads.size() < 2)
        return {};
    std::vector<std::string> threads;
    for (const SampledEventRow::Thread& thread : row.threads)
        threads.push_back(fmt::format("{} ({}) {}", thread.name, thread.tid, format_fraction(thread.fraction)));
    return heaviest("by thread", std::move(threads), limit);
}

std::string event_regions(const SampledEventRow& row, size_t limit) {
    if (row.regions.empty())
        return {};
    std::vector<std::string> regions;
    for (const SampledEventRow::Region& region : row.regions)
        regions.push_back(fmt::format("{} {}", region.name, format_fraction(region.fraction)));
    return heaviest("by region", std::move(regions), limit);
}

} // namespace plumb
