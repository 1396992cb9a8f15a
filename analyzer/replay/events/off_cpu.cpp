#include "replay/events/off_cpu.h"

#include <algorithm>

namespace plumb::replay {

namespace {

constexpr double kNoticeable = 0.02; // of an interval

Nanoseconds at_most(uint64_t time_ns, Nanoseconds most) {
    return static_cast<Nanoseconds>(std::min(time_ns, static_cast<uint64_t>(most)));
}

} // namespace

OffCpu::OffCpu(const model::Run& run, const model::Process& process, size_t thread) {
    if (thread >= process.threads.size())
        return;
    const std::vector<model::ThreadInterval>& intervals = process.threads[thread].intervals;
    // Kernels without scheduler statistics say 0 for both.
    const bool runs = std::ranges::any_of(intervals, [](const model::ThreadInterval& interval) { return interval.run_ns > 0; });
    const uint64_t init_end_ns = process.mpi ? process.mpi->init_end_ns : 0;
    const uint64_t finalize_ns = process.mpi ? process.mpi->finalize_begin_ns : 0;
    const Nanoseconds first = init_end_ns ? since(run.begin_ns, init_end_ns) : -kMost;
    const Nanoseconds last = finalize_ns ? since(run.begin_ns, finalize_ns) : kMost;
    Sums sums;
    size_t noticeable = 0;
    for (const model::ThreadInterval& interval : intervals) {
        const Nanoseconds whole_begin = since(run.begin_ns, interval.begin_ns), whole_end = since(run.begin_ns, interval.end_ns);
        const Nanoseconds begin = std::max(whole_begin, first), end = std::min(whole_end, last);
        if (end <= begin || (!points_.empty() && begin < points_.back().moment))
            continue;
        const Nanoseconds whole = whole_end - whole_begin, outside = whole - (end - begin);
        const Nanoseconds delayed = at_most(interval.run_delay_ns, whole);
        const Nanoseconds asleep = runs ? whole - delayed - at_most(interval.run_ns, whole - delayed) : 0;
        points_.push_back({begin, sums});
        sums.delayed += std::max(Nanoseconds{0}, delayed - outside);
        sums.asleep += std::max(Nanoseconds{0}, asleep - outside);
        points_.push_back({end, sums});
        noticeable += static_cast<double>(delayed) > kNoticeable * static_cast<double>(whole);
    }
    if (!points_.empty())
        delayed_intervals_ = static_cast<double>(noticeable) / (static_cast<double>(points_.size()) / 2);
}

OffCpu::Sums OffCpu::until(Nanoseconds moment) const {
    const auto after = std::ranges::upper_bound(points_, moment, {}, &Point::moment);
    if (after == points_.begin())
        return {};
    const Point& before = *std::prev(after);
    if (after == points_.end() || after->moment == before.moment)
        return before.sums;
    const double part = static_cast<double>(moment - before.moment) / static_cast<double>(after->moment - before.moment);
    const auto between = [&](Nanoseconds first, Nanoseconds second) {
        return first + static_cast<Nanoseconds>(part * static_cast<double>(second - first));
    };
    return {between(before.sums.delayed, after->sums.delayed), between(before.sums.asleep, after->sums.asleep)};
}

} // namespace plumb::replay
