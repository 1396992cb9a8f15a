#include "record/noise/quantum_base.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr size_t kFewest = 3, kFastestShare = 1000, kCommonShare = 10;
constexpr uint64_t kLeastFloor_ns = 100, kFloorFactor = 4;

} // namespace

QuantumBase base_of(std::vector<uint64_t> durations_ns) {
    std::ranges::sort(durations_ns);
    const size_t count = durations_ns.size();
    QuantumBase base;
    base.quantum_ns = durations_ns[std::min(count - 1, std::max(kFewest - 1, count / kFastestShare))];
    const size_t held = std::max<size_t>(count / kCommonShare, std::min<size_t>(count, 2));
    size_t best = 0;
    for (size_t first = 0; first + held <= count; ++first)
        if (durations_ns[first + held - 1] - durations_ns[first] < durations_ns[best + held - 1] - durations_ns[best])
            best = first;
    const uint64_t common_ns = (durations_ns[best] + durations_ns[best + held - 1]) / 2;
    const uint64_t distance_ns = common_ns > base.quantum_ns ? common_ns - base.quantum_ns : 0;
    base.floor_ns = std::max(kLeastFloor_ns, kFloorFactor * distance_ns);
    return base;
}

} // namespace plumb::record
