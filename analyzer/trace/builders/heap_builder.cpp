#include "trace/builders/heap_builder.h"

#include <algorithm>

namespace plumb::trace {

void HeapBuilder::take(const HeapTotals& record) {
    model::Heap& heap = process_.heap;
    heap.recorded = true;
    heap.allocations += record.allocations;
    heap.allocated_bytes += record.allocated_bytes;
    heap.frees += record.frees;
    heap.reallocations += record.reallocations;
    heap.failed += record.failed;
    for (size_t i = 0; i < std::size(heap.size_histogram); ++i)
        heap.size_histogram[i] += record.size_histogram[i];
}

void HeapBuilder::take(const HeapSite& record, uint32_t path, const FileContext& context) {
    if (path >= sites_.size())
        sites_.resize(process_.paths.size(), 0);
    model::Heap& heap = process_.heap;
    heap.recorded = true;
    heap.every_event |= record.mode == static_cast<uint32_t>(HeapSiteMode::every_event);
    if (sites_[path] == 0) {
        heap.sites.push_back({.path = path});
        sites_[path] = static_cast<uint32_t>(heap.sites.size());
    }
    model::HeapSite& site = heap.sites[sites_[path] - 1];
    site.allocations += record.allocations;
    site.allocated_bytes += record.allocated_bytes;
    site.frees += record.frees;
    site.freed_bytes += record.freed_bytes;
    site.temporary += record.temporary;
    // What did not change since the heap's last new maximum was then as it is now (trace_format.h).
    site.peak_live_bytes += record.peak_epoch == context.peak_epoch() ? record.peak_live_bytes
                                                                      : record.allocated_bytes - record.freed_bytes;
    site.samples += record.samples;
    site.lock_wait_ns += record.lock_wait_ns;
    if (record.first_ns != 0) {
        const uint64_t first = context.time(record.first_ns);
        site.first_ns = site.first_ns ? std::min(site.first_ns, first) : first;
    }
    site.last_ns = std::max(site.last_ns, context.time(record.last_ns));
}

void HeapBuilder::finish() {
    for (model::HeapSite& site : process_.heap.sites) // a thread that only frees counts negative; its path must not
        if (static_cast<int64_t>(site.peak_live_bytes) < 0)
            site.peak_live_bytes = 0;
}

} // namespace plumb::trace
