#include "analyses/memory/bandwidth_summary.h"

namespace plumb {

namespace {

BandwidthSummary summary_of(const BandwidthUse& use) {
    BandwidthSummary summary;
    double weight = 0, timed = 0, of_roof = 0, of_one = 0;
    for (const HostBurst& burst : use.bursts) {
        weight += burst.weight_ns;
        summary.bytes_per_s += burst.weight_ns * burst.bytes_per_s();
        summary.threads += burst.weight_ns * burst.threads;
        const double one_thread = burst.roof ? roof_at(*burst.roof, 1) : 0;
        if (burst.roof_bytes_per_s <= 0 || one_thread <= 0)
            continue;
        timed += burst.weight_ns;
        of_roof += burst.weight_ns * burst.bytes_per_s() / burst.roof_bytes_per_s;
        of_one += burst.weight_ns * burst.roof_bytes_per_s / one_thread;
    }
    summary.bytes_per_s /= weight;
    summary.threads /= weight;
    summary.roof_fraction = timed > 0 ? of_roof / timed : 0;
    summary.roof_times_one_thread = timed > 0 ? of_one / timed : 0;
    summary.bursts = use.bursts.size();
    return summary;
}

} // namespace

std::optional<BandwidthSummary> summarise_bandwidth(const std::vector<BandwidthUse>& uses, double sampled_s) {
    std::optional<BandwidthSummary> most;
    double seconds = 0;
    for (const BandwidthUse& use : uses) {
        for (const LoopUse& loop : use.loops)
            seconds += loop.time_ns * 1e-9;
        if (const BandwidthSummary one = summary_of(use); one.bytes_per_s > (most ? most->bytes_per_s : 0))
            most = one;
    }
    if (most && sampled_s > 0)
        most->time_fraction = seconds / sampled_s;
    return most;
}

std::vector<Location> streaming_lines(const std::vector<BandwidthUse>& uses, model::CallPaths& paths, size_t limit) {
    LineShares lines;
    for (const BandwidthUse& use : uses)
        for (const LoopUse& loop : use.loops)
            for (const model::SampleSite* const site : loop.sites)
                lines.add(paths.user_frame(loop.process, site->path), static_cast<double>(site->time_ns));
    return lines.heaviest(limit);
}

} // namespace plumb
