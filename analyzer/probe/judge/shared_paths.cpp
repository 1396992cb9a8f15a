#include "probe/judge/shared_paths.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace plumb::probe {

namespace {

constexpr double kLeastGap = 1.3;     // between the times of two levels of caches
constexpr double kWholeEnough = 0.9;  // of a group's pairs

using Linked = std::function<bool(const PairFigures&)>;

// The connected parts of two CPUs and more, those that hold together.
std::vector<CpuGroup> groups_of(const std::vector<PairFigures>& pairs, const Linked& is_measured, const Linked& is_linked) {
    std::map<int, int> parent;
    const std::function<int(int)> root = [&](int cpu) { return parent[cpu] == cpu ? cpu : parent[cpu] = root(parent[cpu]); };
    for (const PairFigures& pair : pairs)
        for (const int cpu : {pair.first, pair.second})
            parent.try_emplace(cpu, cpu);
    for (const PairFigures& pair : pairs)
        if (is_measured(pair) && is_linked(pair))
            parent[root(pair.first)] = root(pair.second);
    std::map<int, std::pair<size_t, size_t>> inside; // linked and all pairs, by root
    for (const PairFigures& pair : pairs)
        if (is_measured(pair) && root(pair.first) == root(pair.second)) {
            inside[root(pair.first)].first += is_linked(pair);
            ++inside[root(pair.first)].second;
        }
    std::map<int, CpuGroup> members;
    for (const auto& entry : std::map<int, int>(parent))
        members[root(entry.first)].push_back(entry.first);
    std::vector<CpuGroup> groups;
    for (auto& [of, group] : members) {
        const auto [linked, all] = inside[of];
        if (group.size() > 1 && static_cast<double>(linked) >= kWholeEnough * static_cast<double>(all))
            groups.push_back(std::move(group));
    }
    std::ranges::sort(groups);
    return groups;
}

bool is_slowed(const statistics::Spread& spread) { return spread.is_known && spread.low > kShares; }

// Splits the times of all pairs where they jump, in their medians and in their intervals.
std::vector<CloseGroups> close_groups(const std::vector<PairFigures>& pairs, size_t cpu_count) {
    std::vector<const statistics::Spread*> sorted;
    for (const PairFigures& pair : pairs)
        if (pair.handover_ns.is_known)
            sorted.push_back(&pair.handover_ns);
    std::ranges::sort(sorted, {}, [](const statistics::Spread* spread) { return spread->median; });
    std::vector<CloseGroups> levels;
    double highest = 0;
    for (size_t i = 0; i + 1 < sorted.size(); ++i) {
        highest = std::max(highest, sorted[i]->high);
        double lowest = sorted[i + 1]->low;
        for (size_t above = i + 1; above < sorted.size(); ++above)
            lowest = std::min(lowest, sorted[above]->low);
        const double cut = sorted[i]->median;
        if (sorted[i + 1]->median < kLeastGap * cut || lowest <= highest)
            continue;
        const auto groups = groups_of(pairs, [](const PairFigures& pair) { return pair.handover_ns.is_known; },
                                      [cut](const PairFigures& pair) { return pair.handover_ns.median <= cut; });
        const bool is_trivial = groups.size() == 1 && groups.front().size() == cpu_count;
        if (!groups.empty() && !is_trivial)
            levels.push_back({cut, groups});
    }
    return levels;
}

bool share(const std::vector<CpuGroup>& groups, int first, int second) {
    return std::ranges::any_of(groups, [&](const CpuGroup& group) {
        return std::ranges::binary_search(group, first) && std::ranges::binary_search(group, second);
    });
}

} // namespace

PairFigures figures_of(const PairTurns& pair) {
    const auto spread = [](const std::vector<double>& values) {
        return values.empty() ? statistics::Spread() : statistics::spread_of(values);
    };
    return {pair.first, pair.second, spread(pair.handover_ns), spread(pair.compute_slowdown), spread(pair.read_slowdown)};
}

SharedPaths shared_paths(const std::vector<PairFigures>& pairs) {
    SharedPaths shared;
    std::set<int> cpus;
    for (const PairFigures& pair : pairs) {
        cpus.insert({pair.first, pair.second});
        shared.handovers += pair.handover_ns.is_known;
        shared.computing += pair.compute_slowdown.is_known;
        shared.reading += pair.read_slowdown.is_known;
    }
    shared.cores = groups_of(pairs, [](const PairFigures& pair) { return pair.compute_slowdown.is_known; },
                             [](const PairFigures& pair) { return is_slowed(pair.compute_slowdown); });
    shared.memory_paths = groups_of(pairs, [](const PairFigures& pair) { return pair.read_slowdown.is_known; },
                                    [](const PairFigures& pair) { return is_slowed(pair.read_slowdown); });
    shared.caches = close_groups(pairs, cpus.size());
    return shared;
}

std::vector<Disagreement> disagreements(const SharedPaths& shared, const std::vector<PairFigures>& pairs,
                                        const std::vector<platform::CpuPath>& kernel) {
    std::map<int, platform::CpuPath> paths;
    for (const platform::CpuPath& path : kernel)
        paths[path.cpu] = path;
    std::vector<Disagreement> found;
    for (const PairFigures& pair : pairs) {
        if (!paths.contains(pair.first) || !paths.contains(pair.second))
            continue;
        const platform::CpuPath &one = paths[pair.first], &other = paths[pair.second];
        const bool same_core = one.core == other.core, same_cache = one.cache == other.cache;
        if (pair.compute_slowdown.is_known && share(shared.cores, pair.first, pair.second) != same_core)
            found.push_back({Disagreement::What::core, pair.first, pair.second, same_core});
        if (!pair.handover_ns.is_known || shared.caches.empty())
            continue;
        // CPUs with one cache must be in one group of some level; those with two must not be in one of the closest.
        const auto& widest = shared.caches.back().groups;
        if (same_cache ? !share(widest, pair.first, pair.second) : share(shared.caches.front().groups, pair.first, pair.second))
            found.push_back({Disagreement::What::cache, pair.first, pair.second, same_cache});
    }
    return found;
}

} // namespace plumb::probe
