#include "record/run/overhead_governor.h"

#include <algorithm>

namespace plumb::record {

bool SampleChoice::wants(uint64_t time_ns) const {
    if (!is_made || weight <= 1)
        return true;
    // The slice's number, scattered: neighbours must not be in step with what the program repeats (SplitMix64's last step).
    uint64_t hash = time_ns / OverheadGovernor::kSlice_ns + 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return ((hash ^ (hash >> 31)) & (weight - 1)) == 0;
}

void OverheadGovernor::look(uint64_t now_ns, uint64_t own_ns, uint64_t spared_ns, uint64_t run_cpu_ns) {
    const auto since = [](uint64_t now, uint64_t before) { return now > before ? now - before : 0; };
    const uint64_t wall = since(now_ns, last_ns_);
    const double base = static_cast<double>(std::max(wall, since(run_cpu_ns, last_run_ns_)));
    const auto share_of = [base](uint64_t ns) { return base > 0 ? static_cast<double>(ns) / base : 0; };
    const double share = share_of(since(own_ns, last_own_ns_)), spared = share_of(since(spared_ns, last_spared_ns_));
    const bool is_first = last_ns_ == 0;
    if (level_ > 0)
        throttled_ns_ += wall;
    last_ns_ = now_ns;
    last_own_ns_ = own_ns;
    last_spared_ns_ = spared_ns;
    last_run_ns_ = run_cpu_ns;
    if (is_first)
        return;
    // Going back needs a distance, or the level would swing.
    if (share > fraction_ && spared > fraction_ / 2 && level_ < kMostLevel)
        ++level_;
    else if (share < fraction_ / 4 && level_ > 0)
        --level_;
}

bool OverheadGovernor::wants_slice() {
    return (random_.next() >> 32 & (weight() - 1)) == 0;
}

} // namespace plumb::record
