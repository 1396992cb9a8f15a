#include "analyses/accesses/replayed_cost.h"

#include <algorithm>
#include <map>
#include <vector>

namespace plumb {

namespace {

// Of a round as replayed: the clock steps by 3 to 6 %, and on a busy machine most turns of one layout may be of another rate than those of
// the other. How many times the error of the median turn.
constexpr double kReplayNoise = 0.07, kSpreads = 3;
constexpr double kLeastAlike = 0.75, kMostAlike = 1.35; // a round in the program, as a part of one in the replay

struct Weight { // of one access in the cost of its loop
    double line = 0, page = 0;
};

Weight weight_of(const model::ReplayedAccess& access, const model::AccessPenalties* penalties) {
    const ExtraTime extra = extra_time_of(penalties, access.kind);
    const double pages = std::min(access.page_share, access.line_share), lines = access.line_share - pages;
    if (extra.line_ns <= 0 || extra.page_ns <= 0)
        return {lines, pages};
    return {lines * extra.line_ns, pages * extra.page_ns};
}

// Seconds that a loop loses by accesses that are not aligned.
AccessCost loop_cost(const model::ReplayedAccess& loop) {
    AccessCost cost;
    const double time_s = static_cast<double>(loop.time_ns) * 1e-9;
    double lost_ns = loop.seen_ns - loop.aligned_ns;
    if (lost_ns <= std::max(kReplayNoise * loop.seen_ns, kSpreads * loop.spread_ns))
        return cost;
    // A round in the program loses no more than the replay does, nor more than what it takes beyond an aligned one.
    const double round_ns = loop.round_ns > 0 ? loop.round_ns : loop.seen_ns;
    lost_ns = std::clamp(round_ns - loop.aligned_ns, 0.0, lost_ns);
    cost.line_s = time_s * lost_ns / round_ns;
    const bool is_alike = loop.round_ns >= kLeastAlike * loop.seen_ns && loop.round_ns <= kMostAlike * loop.seen_ns;
    cost.how = is_alike ? AccessCost::How::measured : AccessCost::How::estimated;
    return cost;
}

} // namespace

std::unordered_map<uint64_t, ReplayedCost> replayed_costs(const model::Process& process,
                                                          const model::AccessPenalties* penalties) {
    std::map<uint32_t, std::vector<const model::ReplayedAccess*>> loops;
    for (const model::ReplayedAccess& access : process.replayed_accesses)
        if (access.seen_ns > 0 && access.aligned_ns > 0)
            loops[access.loop].push_back(&access);
    std::unordered_map<uint64_t, ReplayedCost> costs;
    for (const auto& [number, accesses] : loops) {
        double all = 0;
        for (const model::ReplayedAccess* access : accesses) {
            const Weight weight = weight_of(*access, penalties);
            all += weight.line + weight.page;
        }
        const AccessCost whole = loop_cost(*accesses.front());
        for (const model::ReplayedAccess* access : accesses) {
            AccessCost own;
            if (all > 0) {
                const Weight weight = weight_of(*access, penalties);
                own.line_s = whole.line_s * weight.line / all;
                own.page_s = whole.line_s * weight.page / all;
                own.how = access->steady ? whole.how : AccessCost::How::estimated;
                own.measured_s = own.how == AccessCost::How::measured ? own.total_s() : 0;
            }
            ReplayedCost& sum = costs[access->address];
            if (!sum.access || own.total_s() > sum.cost.total_s())
                sum.access = access;
            sum.cost.add(own);
        }
    }
    return costs;
}

} // namespace plumb
