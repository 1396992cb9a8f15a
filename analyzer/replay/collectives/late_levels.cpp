#include "replay/collectives/late_levels.h"

#include "replay/events/rank_time.h"

#include <algorithm>
#include <numeric>

namespace plumb::replay {

namespace {

constexpr double kLeastFraction = 0.01; // of the job's time
constexpr double kAlike = 0.25;         // of what a rank computes more than usual: so far apart are ranks of one level

} // namespace

std::vector<std::vector<uint32_t>> find_levels(const std::vector<double>& compute_s, double least_s) {
    const size_t count = compute_s.size(), usual = count - count / 2; // half of the ranks say what is usual
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t row) { return compute_s[row]; });
    const auto time_s = [&](size_t place) { return compute_s[order[place]]; };
    const auto gap_s = [&](size_t place) { return time_s(place) - time_s(place - 1); };
    std::vector<size_t> begins; // of what lies apart from what is below it
    for (size_t place = usual; place < count; ++place)
        if (gap_s(place) > std::max(least_s, kAlike * (time_s(place) - time_s(usual - 1))))
            begins.push_back(place);
    if (begins.empty())
        return {};
    const double scatter_s = time_s(begins[0] - 1) - time_s((begins[0] - 1) / 2); // of the usual ones, above their median
    std::vector<std::vector<uint32_t>> levels;
    size_t end = count;
    for (auto begin = begins.rbegin(); begin != begins.rend() && levels.size() < LateLevels::kMost; end = *begin++) {
        const double width_s = time_s(end - 1) - time_s(*begin);
        if (gap_s(*begin) < 2 * scatter_s || gap_s(*begin) < width_s)
            break;
        std::vector<uint32_t>& rows = levels.emplace_back(order.begin() + static_cast<ptrdiff_t>(*begin),
                                                          order.begin() + static_cast<ptrdiff_t>(end));
        std::ranges::sort(rows);
    }
    return levels;
}

LateLevels LateLevels::of(const model::Run& run, const Job& job) {
    std::vector<double> compute_s;
    double longest_s = 0;
    for (const Rank& rank : job.ranks) {
        const RankTime time = rank_time(run, run.processes[rank.process]);
        compute_s.push_back(time.compute_s());
        longest_s = std::max(longest_s, time.elapsed_s);
    }
    LateLevels found;
    if (longest_s <= 0)
        return found;
    found.levels_ = find_levels(compute_s, kLeastFraction * longest_s);
    if (found.size() == 1 && found.rows(0).size() == 1)
        found.levels_.clear();
    if (found.size() == 0)
        return found;
    found.level_of_.assign(job.ranks.size(), found.size());
    for (size_t level = 0; level < found.size(); ++level)
        for (const uint32_t row : found.rows(level))
            found.level_of_[row] = level;
    return found;
}

} // namespace plumb::replay
