#include "diagnoses/heap/heap_growth.h"

#include "model/source_line.h"

#include <algorithm>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastLife_s = 1;
constexpr double kLeastLive_bytes = 4e6;
constexpr double kLeastLiveShare = 0.5;    // of what the site allocated lived at one time
constexpr double kLeastGrowthShare = 0.1;  // of everything that did
constexpr uint64_t kFewestAllocations = 8; // allocations seen: fewer are a buffer or two
constexpr double kGoesOnUntil = 0.75;      // of the process's life
constexpr double kSpread = 0.5;            // part of its life over which the site was active, at least

double never_freed_bytes_of(const model::HeapSite& site) {
    return site.allocated_bytes > site.freed_bytes ? static_cast<double>(site.allocated_bytes - site.freed_bytes) : 0;
}

// Sites of one process by source line; several call paths may lead to one line.
std::vector<HeapGrowth> growing_lines(model::CallPaths& paths, size_t index) {
    const model::Process& process = paths.run().processes[index];
    const double life_s = static_cast<double>(process.end_ns - process.start_ns) * 1e-9;
    std::vector<HeapGrowth> growing;
    if (process.end_ns <= process.start_ns || life_s < kLeastLife_s)
        return growing;
    double all_live = 0;
    std::map<model::SourceLine, HeapGrowth> lines;
    for (const model::HeapSite& site : process.heap.sites) {
        const double never_freed = never_freed_bytes_of(site);
        const double live = std::max(never_freed, static_cast<double>(site.peak_live_bytes));
        const uint64_t samples = process.heap.every_event ? site.allocations : site.samples;
        all_live += live;
        // What a line needs for a moment only, on another path than what it keeps, hides no growth.
        if (samples >= kFewestAllocations && live < kLeastLiveShare * static_cast<double>(site.allocated_bytes))
            continue;
        const model::SourceFrame frame = paths.user_frame(index, site.path);
        HeapGrowth& line = lines[model::source_line(frame)];
        line.frame = frame;
        line.live_bytes += live;
        line.never_freed_bytes += never_freed;
        line.allocated_bytes += static_cast<double>(site.allocated_bytes);
        line.allocations += static_cast<double>(site.allocations);
        line.samples += samples;
        line.first_ns = std::min(line.first_ns, std::max(site.first_ns, process.start_ns));
        line.last_ns = std::max(line.last_ns, std::max(site.last_ns, process.start_ns));
        line.exact = process.heap.every_event;
        line.pid = process.pid;
    }
    for (const auto& [key, line] : lines) {
        const double last_s = static_cast<double>(line.last_ns - process.start_ns) * 1e-9;
        if (last_s >= kGoesOnUntil * life_s && line.active_s() >= kSpread * life_s && line.live_bytes >= kLeastLive_bytes &&
            line.live_bytes >= kLeastLiveShare * line.allocated_bytes && line.live_bytes >= kLeastGrowthShare * all_live &&
            line.samples >= kFewestAllocations)
            growing.push_back(line);
    }
    std::sort(growing.begin(), growing.end(),
              [](const HeapGrowth& left, const HeapGrowth& right) { return left.live_bytes > right.live_bytes; });
    return growing;
}

} // namespace

std::vector<HeapGrowth> heap_growths(model::CallPaths& paths) {
    std::vector<HeapGrowth> all;
    for (size_t process = 0; process < paths.run().processes.size(); process++)
        for (const HeapGrowth& growth : growing_lines(paths, process))
            all.push_back(growth);
    std::ranges::sort(all, std::greater<>(), &HeapGrowth::live_bytes);
    return all;
}

} // namespace plumb
