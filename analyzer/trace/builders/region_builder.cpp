#include "trace/builders/region_builder.h"

#include <algorithm>
#include <utility>

namespace plumb::trace {

namespace {

// Regions of one thread that are open at a time, of which the one that ends is looked for. A file full of begins
// without ends would else be searched from end to begin for each end.
constexpr size_t kMostOverlapping = 1024;

} // namespace

void RegionBuilder::take(const std::string& name, bool begins, uint32_t thread, uint64_t time_ns,
                         Allowance& allowance) {
    auto known = regions_.find(name);
    if (known == regions_.end()) {
        if (!begins || !allowance.take(sizeof(model::Region) + 2 * name.size()))
            return;
        known = regions_.emplace(name, static_cast<uint32_t>(process_.regions.size())).first;
        process_.regions.push_back({.name = name});
    }
    std::vector<Entry>& open = open_[thread];
    if (begins) {
        open.push_back({known->second, time_ns});
        return;
    }
    // Only regions that overlap are left in another order than they were entered: few, in programs.
    const size_t looked_at = std::min(open.size(), kMostOverlapping);
    const auto entry = std::find_if(open.rbegin(), open.rbegin() + static_cast<ptrdiff_t>(looked_at),
                                    [&](const Entry& candidate) { return candidate.region == known->second; });
    if (entry == open.rbegin() + static_cast<ptrdiff_t>(looked_at))
        return;
    leave(*entry, thread, time_ns);
    open.erase(std::next(entry).base());
}

void RegionBuilder::leave(const Entry& entry, uint32_t thread, uint64_t end_ns) {
    model::Region& region = process_.regions[entry.region];
    const uint64_t time_ns = end_ns > entry.begin_ns ? end_ns - entry.begin_ns : 0;
    region.entries++;
    region.time_ns += time_ns;
    region.longest_ns = std::max(region.longest_ns, time_ns);
    if (threads_seen_.emplace(uint64_t{entry.region} << 32 | thread, 1).second)
        region.threads++;
    spans_.push_back({entry.region, thread, entry.begin_ns, entry.begin_ns + time_ns});
}

void RegionBuilder::take_sample(const std::string& event, uint32_t thread, uint64_t time_ns, Allowance& allowance) {
    if (allowance.take(event.size()))
        samples_.add(event, thread, time_ns);
}

void RegionBuilder::finish() {
    for (const auto& [thread, open] : open_)
        for (const Entry& entry : open) {
            process_.regions[entry.region].open++;
            leave(entry, thread, process_.threads[thread].end_ns);
        }
    open_.clear();
    samples_.count(std::move(spans_), process_);
    std::erase_if(process_.regions, [](const model::Region& region) { return region.entries == 0; });
}

} // namespace plumb::trace
