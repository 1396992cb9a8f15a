#include "record/timer/sample_table.h"

#include "record/process/process.h"

#include <string.h>

namespace plumb::shim {
namespace {

// One writer; readers take each field as it is.
void increase(uint64_t& counter, uint64_t by) {
    std::atomic_ref<uint64_t> place(counter);
    place.store(place.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

} // namespace

void SampleTable::add(const Guard& guard, trace::NodeId path, uint64_t samples, uint64_t time_ns, bool in_kernel,
                      uint64_t now_ns) {
    used_ = true;
    uint32_t at = path * 0x9e3779b1u >> 19; // 13 bits
    for (uint32_t probe = 0; probe < kProbes && path != 0; ++probe, at = (at + 1) % kEntries) {
        Entry& entry = entries_[at];
        if (entry.path == 0) {
            trace::SampleSite site = {};
            site.pid = recorded_pid();
            site.path = path;
            site.first_ns = now_ns;
            entry.site = append(guard, trace::RecordType::SampleSite, site);
            if (!entry.site)
                return; // counted as dropped; a later sample tries again
            entry.path = path;
        }
        if (entry.path == path) {
            increase(entry.site->samples, samples);
            increase(entry.site->time_ns, time_ns);
            increase(entry.site->kernel, in_kernel ? samples : 0);
            std::atomic_ref<uint64_t>(entry.site->last_ns).store(now_ns, std::memory_order_relaxed);
            return;
        }
    }
    trace_file().count_dropped(1);
}

void SampleTable::clear() {
    if (used_)
        memset(entries_, 0, sizeof entries_);
    used_ = false;
}

} // namespace plumb::shim
