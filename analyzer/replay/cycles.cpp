#include "replay/cycles.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumb::replay {

namespace {

struct Cycles {
    uint64_t count = 0;
    Nanoseconds sum = 0, least = INT64_MAX;
};

// From one collective of a call site to the next one of the same site; of the site that covers most of the time. Sites are
// distinguished by the lowest rank's.
Cycles main_cycles(const EpochTable& epochs) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<Cycles, Nanoseconds>> sites; // with the last moment
    for (const Epoch& epoch : epochs.epochs()) { // by communicator, then sequence: in order of time within each
        if (!epoch.complete || !(epoch.kind & trace::kMpiSynchronising) || epoch.is_neighbour())
            continue;
        const auto [found, is_new] = sites.try_emplace({epoch.comm, epoch.site_row, epoch.site});
        auto& [cycles, last] = found->second;
        if (!is_new && epoch.last.begin > last) {
            cycles.count++;
            accumulate(cycles.sum, epoch.last.begin - last);
            cycles.least = std::min(cycles.least, epoch.last.begin - last);
        }
        last = epoch.last.begin;
    }
    Cycles most;
    for (const auto& [key, site] : sites)
        if (site.first.sum > most.sum)
            most = site.first;
    return most;
}

} // namespace

model::MpiGranularity granularity_of(const JobCharge& all, const EpochTable& epochs) {
    model::MpiGranularity granularity;
    granularity.intervals = all.compute.total() * epochs.stride();
    if (all.compute.total() == 0)
        return granularity;
    granularity.mean_s = seconds(all.compute_sum) / static_cast<double>(all.compute.total());
    granularity.least_s = seconds(all.compute_least);
    granularity.most_s = seconds(all.compute_most);
    const auto quantile_s = [&](double part) {
        return std::clamp(all.compute.quantile(part) * 1e-9, granularity.least_s, granularity.most_s);
    };
    granularity.tenth_s = quantile_s(0.1);
    granularity.median_s = quantile_s(0.5);
    granularity.ninetieth_s = quantile_s(0.9);
    if (epochs.stride() > 1) // the collectives between are not known
        return granularity;
    const Cycles cycles = main_cycles(epochs);
    granularity.cycles = cycles.count;
    if (cycles.count) {
        granularity.mean_cycle_s = seconds(cycles.sum) / static_cast<double>(cycles.count);
        granularity.least_cycle_s = seconds(cycles.least);
    }
    return granularity;
}

} // namespace plumb::replay
