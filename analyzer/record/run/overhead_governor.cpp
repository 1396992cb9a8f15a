#include "record/run/overhead_governor.h"

#include <algorithm>

namespace plumb::record {

void OverheadGovernor::look(uint64_t now_ns, uint64_t own_ns, uint64_t run_cpu_ns) {
    const auto since = [](uint64_t now, uint64_t before) { return now > before ? now - before : 0; };
    const uint64_t wall = since(now_ns, last_ns_);
    const double base = static_cast<double>(std::max(wall, since(run_cpu_ns, last_run_ns_)));
    const double share = base > 0 ? static_cast<double>(since(own_ns, last_own_ns_)) / base : 0;
    const bool is_first = last_ns_ == 0;
    if (level_ > 0)
        throttled_ns_ += wall;
    last_ns_ = now_ns;
    last_own_ns_ = own_ns;
    last_run_ns_ = run_cpu_ns;
    if (is_first)
        return;
    // Going back needs a distance, or the level would swing.
    if (share > fraction_ && level_ < kMostLevel)
        ++level_;
    else if (share < fraction_ / 4 && level_ > 0)
        --level_;
}

bool OverheadGovernor::wants_slice() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (random_ >> 32 & (weight() - 1)) == 0;
}

} // namespace plumb::record
