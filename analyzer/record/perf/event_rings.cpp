#include "record/perf/event_rings.h"

#include <bit>
#include <cerrno>
#include <unistd.h>

namespace plumb::record {

int EventRings::open(const perf_event_attr& attributes, int pid, const std::vector<int>& cpus, size_t pages) {
    rings_.clear();
    fields_ = attributes.sample_type;
    register_count_ = std::popcount(attributes.sample_regs_user);
    int error = ENODEV;
    for (const int cpu : cpus) {
        PerfRing ring;
        error = ring.open(attributes, pid, cpu, pages);
        if (error == ENODEV)
            continue; // that CPU went offline
        if (error != 0) {
            rings_.clear();
            return error;
        }
        rings_.push_back(std::move(ring));
    }
    return rings_.empty() ? error : 0;
}

void EventRings::enable(bool on) {
    for (PerfRing& ring : rings_)
        ring.enable(on);
}

void EventRings::hand_out(const std::function<void(const PerfRecord&)>& take) {
    for (size_t at = 0; at < bytes_.size();) {
        const auto& header = *reinterpret_cast<const perf_event_header*>(bytes_.data() + at);
        if (const auto record = decode(header, fields_, register_count_); record && record->kind == PerfKind::sample)
            take(*record);
        at += header.size;
    }
    bytes_.clear();
}

void EventRings::drain(const std::function<void(const PerfRecord&)>& take, bool all) {
    hand_out(take);
    for (PerfRing& ring : rings_)
        ring.drain([&](const perf_event_header& header) { // sizes are multiples of 8, so every copy is aligned
            const char* begin = reinterpret_cast<const char*>(&header);
            bytes_.insert(bytes_.end(), begin, begin + header.size);
        });
    if (all)
        hand_out(take);
}

// The event of a CPU counts as to be looked at while the thread is on another one: of each thread's time all rings together
// have as many times as there are rings, and the one of its CPU alone can have it running.
std::optional<EventRings::Total> EventRings::total() const {
    Total total;
    for (const PerfRing& ring : rings_) {
        uint64_t read[3] = {}; // the count, time enabled, time on a counter
        if (::read(ring.fd(), read, sizeof read) != sizeof read)
            return std::nullopt;
        total.events += read[0];
        total.enabled_ns += read[1];
        total.running_ns += read[2];
    }
    if (!rings_.empty())
        total.enabled_ns /= rings_.size();
    return total;
}

} // namespace plumb::record
