#include "trace/builders/region_samples.h"

#include <algorithm>
#include <tuple>

namespace plumb::trace {

namespace {

// Entries of a region inside the same region are parts of the outer one.
std::vector<RegionSpan> joined(std::vector<RegionSpan> spans) {
    std::ranges::sort(spans, {}, [](const RegionSpan& span) { return std::tuple(span.thread, span.region, span.begin_ns); });
    std::vector<RegionSpan> apart;
    for (const RegionSpan& span : spans)
        if (!apart.empty() && apart.back().thread == span.thread && apart.back().region == span.region &&
            span.begin_ns <= apart.back().end_ns)
            apart.back().end_ns = std::max(apart.back().end_ns, span.end_ns);
        else
            apart.push_back(span);
    return apart;
}

uint32_t first_thread(const model::Process& process) {
    const auto found = std::ranges::find(process.threads, process.pid, &model::Thread::tid);
    return static_cast<uint32_t>(found - process.threads.begin());
}

} // namespace

void RegionSamples::add(const std::string& event, uint32_t thread, uint64_t time_ns) { samples_[event].emplace_back(thread, time_ns); }

void RegionSamples::count(std::vector<RegionSpan> spans, model::Process& process) const {
    spans = joined(std::move(spans));
    std::set<uint32_t> entering;
    for (const RegionSpan& span : spans)
        entering.insert(span.thread);
    const uint32_t first = first_thread(process);
    for (const auto& [event, samples] : samples_) {
        process.counter_samples.push_back({event, samples.size()});
        std::map<uint32_t, std::vector<uint64_t>> times; // by the thread whose regions count
        for (const auto& [thread, time_ns] : samples)
            times[entering.contains(thread) ? thread : first].push_back(time_ns);
        for (auto& [thread, each] : times)
            std::ranges::sort(each);
        std::vector<uint64_t> inside(process.regions.size());
        for (const RegionSpan& span : spans)
            if (const auto own = times.find(span.thread); own != times.end())
                inside[span.region] += static_cast<uint64_t>(std::ranges::upper_bound(own->second, span.end_ns) -
                                                             std::ranges::lower_bound(own->second, span.begin_ns));
        for (size_t region = 0; region < inside.size(); ++region)
            if (inside[region] > 0)
                process.regions[region].counter_samples.push_back({event, inside[region]});
    }
}

} // namespace plumb::trace
