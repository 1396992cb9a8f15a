#include "probe/measure/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace plumb::probe {

namespace {
constexpr size_t kFewestRounds = 8;
constexpr double kFalseProbes = 0.05;

// 0: a core, 1: a cache, 2: a NUMA node, 3: nothing of these.
size_t kind_of(const platform::CpuPath& one, const platform::CpuPath& other) {
    return one.core == other.core ? 0 : one.cache == other.cache ? 1 : one.node == other.node ? 2 : 3;
}
} // namespace

std::vector<std::vector<size_t>> waves_of(const std::vector<platform::CpuPath>& paths) {
    std::map<int, size_t> of_cache;
    std::vector<std::vector<size_t>> waves;
    for (size_t i = 0; i < paths.size(); ++i) {
        const size_t wave = of_cache[paths[i].cache]++;
        if (wave == waves.size())
            waves.emplace_back();
        waves[wave].push_back(i);
    }
    return waves;
}

PairPlan pairs_of(const std::vector<platform::CpuPath>& paths, size_t most) {
    std::array<std::vector<std::pair<size_t, size_t>>, 4> kinds;
    size_t all = 0;
    for (size_t apart = 1; apart < paths.size(); ++apart) // neighbours first: each CPU is in one of the first pairs
        for (size_t i = 0; i + apart < paths.size(); ++i, ++all)
            kinds[kind_of(paths[i], paths[i + apart])].emplace_back(i, i + apart);
    PairPlan plan;
    for (size_t at = 0; plan.pairs.size() < std::min(most, all); ++at)
        for (const auto& kind : kinds)
            if (at < kind.size() && plan.pairs.size() < most)
                plan.pairs.push_back(kind[at]);
    plan.left_out = all - plan.pairs.size();
    return plan;
}

size_t rounds_needed(size_t comparisons) {
    const double rounds = std::ceil(std::log2(static_cast<double>(std::max<size_t>(comparisons, 1)) / kFalseProbes));
    return std::max(kFewestRounds, static_cast<size_t>(rounds) + 1);
}

uint64_t turn_length_ns(double time_s, size_t turns, size_t rounds) {
    const double most_ns = time_s * 1e9 / static_cast<double>(std::max<size_t>(turns * rounds, 1));
    return std::clamp(static_cast<uint64_t>(std::max(most_ns, 0.0)), kShortestTurn_ns, kTurn_ns);
}

} // namespace plumb::probe
