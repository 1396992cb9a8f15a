#include "replay/run_delay.h"

#include <algorithm>

namespace plumb::replay {

namespace {

constexpr double kNoticeable = 0.02; // of an interval

Nanoseconds since(uint64_t begin_ns, uint64_t time_ns) {
    return std::clamp(static_cast<Nanoseconds>(time_ns - begin_ns), -kMost, kMost);
}

} // namespace

RunDelay::RunDelay(const model::Run& run, const std::vector<model::Thread>& threads, size_t thread) {
    if (thread >= threads.size())
        return;
    Nanoseconds sum = 0;
    size_t noticeable = 0;
    for (const model::ThreadInterval& interval : threads[thread].intervals) {
        const Nanoseconds begin = since(run.begin_ns, interval.begin_ns), end = since(run.begin_ns, interval.end_ns);
        if (end <= begin || (!points_.empty() && begin < points_.back().moment))
            continue;
        const auto delay = static_cast<Nanoseconds>(std::min<uint64_t>(interval.run_delay_ns,
                                                                       static_cast<uint64_t>(end - begin)));
        points_.push_back({begin, sum});
        sum += delay;
        points_.push_back({end, sum});
        noticeable += static_cast<double>(delay) > kNoticeable * static_cast<double>(end - begin);
    }
    if (!points_.empty())
        share_ = static_cast<double>(noticeable) / (static_cast<double>(points_.size()) / 2);
}

Nanoseconds RunDelay::until(Nanoseconds moment) const {
    const auto after = std::ranges::upper_bound(points_, moment, {}, &Point::moment);
    if (after == points_.begin())
        return 0;
    const Point& before = *std::prev(after);
    if (after == points_.end() || after->moment == before.moment)
        return before.sum;
    const double part = static_cast<double>(moment - before.moment) / static_cast<double>(after->moment - before.moment);
    return before.sum + static_cast<Nanoseconds>(part * static_cast<double>(after->sum - before.sum));
}

} // namespace plumb::replay
