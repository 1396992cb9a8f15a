#include "record/access/traffic/stream_reuse.h"

#include <algorithm>
#include <numeric>

namespace plumb::record {

namespace {

constexpr double kFewSweeps = 1.5;   // before another loop runs: it is swept once each time
constexpr uint64_t kFewestEntries = 3; // to tell what comes before

bool touches(const SweptLoop& loop, const MemoryRange& range) {
    return std::ranges::any_of(loop.ranges, [&](const MemoryRange& own) { return own.meets(range); });
}

} // namespace

std::vector<size_t> loops_before(const std::vector<SweptLoop>& loops) {
    std::vector<size_t> before(loops.size());
    std::iota(before.begin(), before.end(), 0);
    for (size_t i = 0; i < loops.size(); ++i) {
        const std::vector<uint64_t>& from = loops[i].entered_from;
        const uint64_t entries = std::accumulate(from.begin(), from.end(), uint64_t{0});
        const double sweeps = loops[i].sweeps * static_cast<double>(std::max<uint64_t>(loops[i].threads, 1));
        if (entries >= kFewestEntries && sweeps <= kFewSweeps * static_cast<double>(entries))
            before[i] = static_cast<size_t>(std::ranges::max_element(from) - from.begin());
    }
    return before;
}

uint64_t bytes_until_reuse(const std::vector<SweptLoop>& loops, const std::vector<size_t>& before, size_t loop,
                           const MemoryRange& range) {
    uint64_t bytes = loops[loop].sweep_bytes / 2;
    size_t at = before[loop];
    for (size_t steps = 0; steps < loops.size() && at != loop; ++steps) {
        if (touches(loops[at], range))
            return bytes + loops[at].sweep_bytes / 2;
        bytes += loops[at].sweep_bytes;
        if (before[at] == at) // what came before that one is not known
            break;
        at = before[at];
    }
    return bytes + loops[loop].sweep_bytes / 2;
}

} // namespace plumb::record
