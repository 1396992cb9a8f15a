#include "analysis/heap_profile.h"
#include "model/source_line.h"
#include "analysis/profile.h"

#include <algorithm>
#include <map>

namespace plumb {

namespace {

void add(HeapLine& line, const model::HeapSite& site) {
    line.allocations += static_cast<double>(site.allocations);
    line.allocated_bytes += static_cast<double>(site.allocated_bytes);
    line.peak_live_bytes += static_cast<double>(site.peak_live_bytes);
    line.temporary += static_cast<double>(site.temporary);
    if (site.allocated_bytes > site.freed_bytes)
        line.unfreed_bytes += static_cast<double>(site.allocated_bytes - site.freed_bytes);
}

} // namespace

std::vector<HeapLine> build_heap_profile(model::CallPaths& paths, size_t limit) {
    std::map<model::SourceLine, HeapLine> by_line;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::HeapSite& site : processes[process].heap.sites) {
            const model::SourceFrame user = without_offset(paths.user_frame(process, site.path));
            HeapLine& line = by_line[model::source_line(user)];
            line.frame = user;
            add(line, site);
        }
    std::vector<HeapLine> lines;
    for (const auto& [key, line] : by_line)
        lines.push_back(line);
    std::stable_sort(lines.begin(), lines.end(), [](const HeapLine& left, const HeapLine& right) {
        return left.allocated_bytes > right.allocated_bytes;
    });
    if (lines.size() > limit)
        lines.resize(limit);
    return lines;
}

bool heap_is_exact(const model::Run& run) {
    bool any = false, exact = true;
    for (const model::Process& process : run.processes)
        if (process.heap.recorded) {
            any = true;
            exact = exact && process.heap.every_event;
        }
    return any && exact;
}

} // namespace plumb
