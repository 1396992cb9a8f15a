#include "analyses/memory/bandwidth_use.h"

#include "analyses/memory/memory_objects.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace plumb {

namespace {

constexpr double kFull = 0.8;        // of the roof. What is timed after the run does nothing else; a program does
constexpr double kMostOfRoof = 1.35; // more than that, and one of the two figures is wrong
constexpr double kNearlyAsMuch = 0.93;

// Each sample belongs to the smallest loop around its instruction.
void share_out_samples(const model::Process& process, size_t number, std::vector<LoopUse>& loops) {
    for (const model::SampleSite& site : process.samples) {
        if (site.path >= process.paths.size() || process.paths[site.path].kernel || !process.paths[site.path].leaf)
            continue;
        const uint64_t address = process.paths[site.path].address;
        LoopUse* smallest = nullptr;
        for (LoopUse& use : loops)
            if (use.process == number && address >= use.loop->begin && address <= use.loop->end &&
                (!smallest || use.loop->end - use.loop->begin < smallest->loop->end - smallest->loop->begin))
                smallest = &use;
        if (!smallest)
            continue;
        smallest->time_ns += static_cast<double>(site.time_ns);
        smallest->samples += site.samples;
        smallest->sites.push_back(&site);
    }
}

// The time from half the way to the burst before to half the way to the one behind.
void weigh(std::vector<HostBurst>& bursts) {
    for (size_t i = 0; i < bursts.size(); ++i) {
        const uint64_t before = i > 0 ? bursts[i].begin_ns - bursts[i - 1].begin_ns : 0;
        const uint64_t behind = i + 1 < bursts.size() ? bursts[i + 1].begin_ns - bursts[i].begin_ns : 0;
        const uint64_t both = before && behind ? before + behind : 2 * std::max(before, behind);
        bursts[i].weight_ns = std::max(1.0, static_cast<double>(both) / 2);
    }
}

const model::BandwidthRoof* roof_of(const model::Host& host, const model::StreamMix& mix) {
    const auto same = std::ranges::find(host.bandwidth_roofs, mix, &model::BandwidthRoof::mix);
    const model::BandwidthRoof* roof = same != host.bandwidth_roofs.end() ? &*same : nullptr;
    if ((!roof || roof->points.empty()) && !host.bandwidth_roofs.empty())
        roof = &host.bandwidth_roofs.front();
    return roof && !roof->points.empty() ? roof : nullptr;
}

void judge(HostBurst& burst) {
    if (!burst.roof)
        return;
    burst.roof_bytes_per_s = roof_at(*burst.roof, burst.threads);
    const auto threads = static_cast<uint32_t>(std::lround(burst.threads));
    burst.enough = enough_threads(*burst.roof, threads);
    burst.full = threads >= 1 && fills_roof(burst.bytes_per_s(), burst.roof_bytes_per_s);
    burst.saturated = burst.full && threads >= 2 && burst.enough < threads;
}

BandwidthUse use_of(const model::Run& run, const model::Host& host) {
    BandwidthUse use;
    use.host = &host;
    for (size_t number = 0; number < run.processes.size(); ++number) {
        const model::Process& process = run.processes[number];
        if (process.streaming_loops.empty() || host_of(run, process) != &host)
            continue;
        for (const model::StreamingLoop& loop : process.streaming_loops)
            use.loops.push_back({.process = number, .loop = &loop, .time_ns = 0, .samples = 0, .full_fraction = 0, .saturated_fraction = 0,
                                 .bytes_per_s = 0, .bytes = 0, .sites = {}});
        share_out_samples(process, number, use.loops);
    }
    struct Sum {
        HostBurst burst;
        double most_threads = 0;
    };
    std::map<uint64_t, Sum> sums;
    for (const LoopUse& each : use.loops)
        for (const model::TrafficBurst& part : each.loop->bursts) {
            Sum& sum = sums[part.begin_ns];
            sum.burst.begin_ns = part.begin_ns;
            sum.burst.threads += part.threads;
            sum.burst.read_bytes_per_s += part.read_bytes_per_s;
            sum.burst.written_bytes_per_s += part.written_bytes_per_s;
            if (part.threads > sum.most_threads) {
                sum.most_threads = part.threads;
                sum.burst.roof = roof_of(host, mix_of(*each.loop));
            }
        }
    for (auto& [begin_ns, sum] : sums) {
        judge(sum.burst);
        use.bursts.push_back(sum.burst);
    }
    weigh(use.bursts);
    for (LoopUse& each : use.loops) {
        double all = 0, full = 0, saturated = 0, bytes = 0, weighted = 0; // by weight and threads; weighted: by weight alone
        for (const model::TrafficBurst& part : each.loop->bursts) {
            const auto burst = std::ranges::lower_bound(use.bursts, part.begin_ns, {}, &HostBurst::begin_ns);
            const double weight = burst->weight_ns * part.threads;
            all += weight;
            full += burst->full ? weight : 0;
            saturated += burst->saturated ? weight : 0;
            bytes += weight * (part.read_bytes_per_s + part.written_bytes_per_s);
            weighted += burst->weight_ns * (part.read_bytes_per_s + part.written_bytes_per_s);
        }
        if (all > 0) {
            each.full_fraction = full / all;
            each.saturated_fraction = saturated / all;
            each.bytes_per_s = bytes / all;
            each.bytes = weighted / all * each.time_ns * 1e-9; // so much a second of one thread
        }
    }
    std::ranges::stable_sort(use.loops, std::greater{}, &LoopUse::time_ns);
    return use;
}

} // namespace

double roof_at(const model::BandwidthRoof& roof, double threads) {
    model::BandwidthPoint below; // no thread moves nothing
    for (const model::BandwidthPoint& point : roof.points) {
        if (threads <= point.threads) {
            const double part = (threads - below.threads) / (point.threads - below.threads);
            return below.bytes_per_s + part * (point.bytes_per_s - below.bytes_per_s);
        }
        below = point;
    }
    return below.bytes_per_s;
}

bool fills_roof(double bytes_per_s, double roof_bytes_per_s) {
    return bytes_per_s >= kFull * roof_bytes_per_s && bytes_per_s <= kMostOfRoof * roof_bytes_per_s;
}

uint32_t enough_threads(const model::BandwidthRoof& roof, uint32_t threads) {
    const double wanted = kNearlyAsMuch * roof_at(roof, threads);
    for (const model::BandwidthPoint& point : roof.points)
        if (point.threads < threads && point.bytes_per_s >= wanted)
            return point.threads;
    return threads;
}

std::vector<BandwidthUse> bandwidth_use_of(const model::Run& run) {
    std::vector<BandwidthUse> uses;
    for (const model::Host& host : run.hosts)
        if (BandwidthUse use = use_of(run, host); !use.bursts.empty())
            uses.push_back(std::move(use));
    return uses;
}

} // namespace plumb
