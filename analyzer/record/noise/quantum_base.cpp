#include "record/noise/quantum_base.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr size_t kFewestFastest = 3, kFastestShare = 1000, kCommonShare = 20;
constexpr uint64_t kLeastFloor_ns = 100, kFloorFactor = 4, kCrowded = 3, kPileWidth = 20;

} // namespace

QuantumBase base_of(std::vector<uint64_t> durations_ns) {
    std::ranges::sort(durations_ns);
    const size_t count = durations_ns.size();
    QuantumBase base;
    base.quantum_ns = durations_ns[std::min(count - 1, std::max(kFewestFastest - 1, count / kFastestShare))];
    const size_t held = std::max<size_t>(count / kCommonShare, std::min<size_t>(count, 2));
    const auto width_ns = [&](size_t first) { return durations_ns[first + held - 1] - durations_ns[first]; };
    uint64_t least_ns = UINT64_MAX;
    for (size_t first = 0; first + held <= count; ++first)
        least_ns = std::min(least_ns, width_ns(first));
    size_t lowest = 0; // place that is crowded, if less than the most crowded one: that may be one of disturbed quanta
    while (width_ns(lowest) > kCrowded * least_ns)
        ++lowest;
    size_t best = lowest;
    for (size_t first = lowest; first + held <= count && durations_ns[first] - durations_ns[lowest] <= kPileWidth * least_ns; ++first)
        if (width_ns(first) < width_ns(best))
            best = first;
    const uint64_t common_ns = (durations_ns[best] + durations_ns[best + held - 1]) / 2;
    const uint64_t distance_ns = common_ns > base.quantum_ns ? common_ns - base.quantum_ns : 0;
    base.floor_ns = std::max(kLeastFloor_ns, kFloorFactor * distance_ns);
    return base;
}

} // namespace plumb::record
