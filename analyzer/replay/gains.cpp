#include "replay/gains.h"

#include "replay/surplus.h"

#include <algorithm>

namespace plumb::replay {

namespace {

// The part of the job that ends sooner, did the awaited one come sooner. Those who wait for it now go on sooner, itself
// too, and the others wait for one of them later. What the members of a smaller communicator have to themselves counts by
// their number: whether the rest of the job waits for them is not known.
double part_of_job(const Epoch& epoch, const Job& job) {
    return std::min(1.0, static_cast<double>(epoch.arrivals) / std::max(1, job.size));
}

} // namespace

std::vector<double> gains_of(const Job& job, const EpochTable& epochs, const Responsible& responsible,
                             const JobCharge& all, const std::vector<RankCharge>& charges) {
    std::vector<double> gains(job.ranks.size());
    std::vector<Surplus> surplus;
    for (const RankCharge& charge : charges)
        surplus.push_back(Surplus::of(charge.extra_compute));
    for (size_t at = 0; at < responsible.size(); ++at) {
        const Epoch& epoch = epochs.epochs()[at];
        if (!epoch.complete || responsible[at] >= gains.size() || all.responsible_begin[at] == INT64_MIN)
            continue;
        const bool from_root = (epoch.kind & trace::kMpiFromRoot) != 0;
        // All others wait for a root's data at once, so that their median stands for them.
        const Nanoseconds next = from_root ? epoch.median_begin : all.others_begin[at];
        const Nanoseconds cured = all.responsible_begin[at] - surplus[responsible[at]].curable(all.responsible_extra[at]);
        const Nanoseconds sooner = epoch.awaited().begin - std::max(next, cured);
        if (sooner > 0)
            gains[responsible[at]] += static_cast<double>(sooner) * part_of_job(epoch, job);
    }
    return gains;
}

std::vector<double> gains_of_levels(const Job& job, const EpochTable& epochs, const JobCharge& all,
                                    const std::vector<RankCharge>& charges) {
    std::vector<double> totals(all.levels.size()); // of each level and those above it
    if (totals.empty())
        return totals;
    std::vector<Surplus> surplus;
    for (const RankCharge& charge : charges)
        surplus.push_back(Surplus::of(charge.extra_compute));
    for (size_t at = 0; at < epochs.epochs().size(); ++at) {
        const Epoch& epoch = epochs.epochs()[at];
        if (!epoch.complete || epoch.awaited().row == UINT32_MAX)
            continue;
        Nanoseconds cured = epoch.kind & trace::kMpiFromRoot ? epoch.median_begin : INT64_MIN; // as in gains_of
        for (size_t level = 0; level < totals.size(); ++level) {
            const LevelCharge::Late& late = all.levels[level].late[at];
            if (late.row < surplus.size())
                cured = std::max(cured, late.begin - surplus[late.row].curable(late.extra));
            const Nanoseconds begin = std::max(cured, all.levels[level].others_begin[at]);
            if (begin > -kMost && begin < epoch.awaited().begin)
                totals[level] += static_cast<double>(epoch.awaited().begin - begin) * part_of_job(epoch, job);
        }
    }
    for (size_t level = totals.size(); level-- > 1;)
        totals[level] = std::max(0.0, totals[level] - totals[level - 1]);
    return totals;
}

} // namespace plumb::replay
