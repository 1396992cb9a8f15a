// Loops over large arrays whose threads move as much as memory can, which fewer threads could move as well: each one more
// brings nothing. What the threads moved is known from how far their streams came; what memory can move was measured after the
// run, on the same CPUs, with as many streams.
#include "analyses/lines/launch_command.h"
#include "analyses/analyses.h"
#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/access/crossing_cost.h"
#include "diagnoses/common/access_words.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/registry.h"
#include "model/call_paths.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace plumb {

namespace {

constexpr double kLeastSaturated = 0.5; // of a loop's bursts
constexpr size_t kFewestFullBursts = 4;
constexpr double kMostScatter = 0.3; // between the quartiles of the measured roof, of its median
constexpr size_t kMostStreamedArrays = 8;

std::string gigabytes(double bytes_per_s) { return fmt::format("{:.1f} GB/s", bytes_per_s * 1e-9); }

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<long>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

struct StreamedArray {
    std::string words;
    double bytes_per_s = 0;
    bool read = false, written = false;
};

// The bursts in which loops that are mostly saturated ran, and what they have in common.
struct Saturation {
    const BandwidthUse* use = nullptr;
    std::vector<const LoopUse*> loops;
    std::vector<const HostBurst*> saturated;
    size_t bursts = 0; // of these loops
    double time_ns = 0; // in them, while memory was full
    uint32_t threads = 0, enough = 0;
    double bytes_per_s = 0, read_bytes_per_s = 0, roof_bytes_per_s = 0;
    const model::BandwidthRoof* roof = nullptr;

    double superfluous() const { return static_cast<double>(threads - enough) / threads; }
};

std::optional<Saturation> saturation_of(const BandwidthUse& use) {
    Saturation found;
    found.use = &use;
    std::map<uint64_t, bool> met; // by the beginning of the burst
    for (const LoopUse& loop : use.loops) {
        if (loop.saturated_fraction < kLeastSaturated || loop.time_ns <= 0)
            continue;
        found.loops.push_back(&loop);
        found.time_ns += loop.time_ns * loop.saturated_fraction;
        for (const model::TrafficBurst& burst : loop.loop->bursts)
            met[burst.begin_ns] = true;
    }
    std::vector<double> threads, enough, bytes, read, roofs;
    for (const HostBurst& burst : use.bursts) {
        if (!met.contains(burst.begin_ns))
            continue;
        ++found.bursts;
        if (!burst.saturated)
            continue;
        found.saturated.push_back(&burst);
        found.roof = burst.roof;
        threads.push_back(burst.threads);
        enough.push_back(burst.enough);
        bytes.push_back(burst.bytes_per_s());
        read.push_back(burst.read_bytes_per_s);
        roofs.push_back(burst.roof_bytes_per_s);
    }
    if (found.saturated.size() < kFewestFullBursts)
        return std::nullopt;
    found.threads = static_cast<uint32_t>(std::lround(median_of(threads)));
    found.enough = static_cast<uint32_t>(std::lround(median_of(enough)));
    if (found.enough >= found.threads)
        return std::nullopt;
    found.bytes_per_s = median_of(bytes);
    found.read_bytes_per_s = median_of(read);
    found.roof_bytes_per_s = median_of(roofs);
    return found;
}

// The measured roof may scatter so much that where it stops growing is not known.
bool is_steady(const model::BandwidthRoof& roof) {
    return std::ranges::all_of(roof.points, [](const model::BandwidthPoint& point) {
        return point.high - point.low <= kMostScatter * point.bytes_per_s;
    });
}

const model::BandwidthPoint* point_at(const model::BandwidthRoof& roof, uint32_t threads) {
    const auto point = std::ranges::find(roof.points, threads, &model::BandwidthPoint::threads);
    return point == roof.points.end() ? nullptr : &*point;
}

// NUMA nodes of the CPUs that so many threads were timed on.
uint32_t nodes_at(const model::BandwidthRoof& roof, uint32_t threads) {
    uint32_t nodes = 1;
    for (const model::BandwidthPoint& point : roof.points)
        if (point.threads <= threads)
            nodes = std::max(nodes, point.nodes);
    return nodes;
}

uint32_t memory_nodes(const model::Host& host) {
    const auto count = std::ranges::count_if(host.nodes, [](const model::NumaNode& node) { return node.total_bytes > 0; });
    return std::max<uint32_t>(1, static_cast<uint32_t>(count));
}

class BandwidthSaturated : public Diagnosis {
  public:
    const char* id() const override { return "bandwidth-saturated"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        const RunTotals totals = totals_of(input.run);
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        for (const BandwidthUse& use : input.analyses.bandwidth)
            if (const auto saturation = saturation_of(use); saturation && is_steady(*saturation->roof)) {
                Finding finding = finding_of(*saturation, input, totals);
                if (finding.cost.fraction >= kLeastNotedFraction && finding.confidence >= kLeastConfidence)
                    findings.push_back(std::move(finding));
            }
        return findings;
    }

  private:
    Finding finding_of(const Saturation& full, const DiagnosisInput& input, const RunTotals& totals) const {
        Finding finding;
        finding.id = id();
        LineShares lines;
        for (const LoopUse* loop : full.loops)
            for (const model::SampleSite* site : loop->sites)
                lines.add(input.paths.user_frame(loop->process, site->path),
                          static_cast<double>(site->time_ns) * loop->saturated_fraction);
        finding.where = lines.heaviest(kMostLines);
        const double share = std::min(1.0, full.time_ns * 1e-9 / totals.sampled_s);
        finding.cost.seconds = totals.wall_of_share(share * full.superfluous());
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
        finding.cost.how = "estimated";
        finding.confidence = confidence_above(full.saturated.size(), full.bursts, kLeastSaturated);
        finding.gain = gain_of(full, std::min(1.0, totals.wall_of_share(share) / totals.wall_s));
        if (finding.gain.fraction < finding.cost.fraction)
            finding.gain = {finding.cost.fraction, "the CPU time of the threads that add no bandwidth", std::nullopt};
        finding.gain.at_least = finding.cost.fraction;
        finding.title = fmt::format("{} threads use all memory bandwidth, {}; {} would be enough", full.threads,
                                    gigabytes(full.bytes_per_s), full.enough == 1 ? "one thread" :
                                    fmt::format("{} of them", full.enough));
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "unknown" : place_name(finding.where[0]);
        add_evidence(full, arrays_of(full, input.paths), finding);
        add_advice(full, input.run, finding);
        return finding;
    }

    // If every thread could move as much as one does alone.
    static Gain gain_of(const Saturation& full, double fraction) {
        const double alone = roof_at(*full.roof, 1), wanted = alone * full.threads;
        if (alone <= 0 || wanted <= full.bytes_per_s)
            return {0, "not known: one thread alone does not move more here"};
        return {fraction * (1 - full.bytes_per_s / wanted),
                fmt::format("upper bound: each of the {} threads moves the {} that one thread alone moves, from the caches or "
                            "on more NUMA nodes", full.threads, gigabytes(alone)),
                std::nullopt, true};
    }

    static std::vector<StreamedArray> arrays_of(const Saturation& full, model::CallPaths& paths) {
        std::map<std::string, StreamedArray> arrays;
        std::map<size_t, MemoryNames> names;
        for (const LoopUse* use : full.loops) {
            const model::StreamingLoop& loop = *use->loop;
            MemoryNames& of_process = names.try_emplace(use->process, paths, use->process).first->second;
            double round_bytes = 0;
            for (const model::MemoryStream& stream : loop.streams)
                round_bytes += static_cast<double>(stream.read_bytes + stream.written_bytes);
            for (const model::MemoryStream& stream : loop.streams) {
                const std::string words = of_process.at(stream.last_address, model::MemoryTraffic::kNone, loop.first_ns,
                                                        loop.last_ns, stream.kind.width, stream.instruction).words();
                StreamedArray& array = arrays[words];
                array.words = words;
                array.read |= stream.kind.load;
                array.written |= stream.kind.store;
                array.bytes_per_s += use->bytes_per_s * static_cast<double>(stream.read_bytes + stream.written_bytes) /
                                     std::max(round_bytes, 1.0);
            }
        }
        std::vector<StreamedArray> list;
        for (auto& [words, array] : arrays)
            list.push_back(std::move(array));
        std::ranges::stable_sort(list, std::greater{}, &StreamedArray::bytes_per_s);
        list.resize(std::min(list.size(), kMostStreamedArrays));
        return list;
    }

    static void add_evidence(const Saturation& full, const std::vector<StreamedArray>& arrays, Finding& finding) {
        const auto number = [](uint64_t count) { return static_cast<int64_t>(count); };
        const model::BandwidthRoof& roof = *full.roof;
        auto& evidence = finding.evidence;
        evidence["traffic_bytes_per_second"] = full.bytes_per_s;
        evidence["read_bytes_per_second"] = full.read_bytes_per_s;
        evidence["roof_bytes_per_second"] = full.roof_bytes_per_s;
        evidence["roof_fraction"] = full.bytes_per_s / full.roof_bytes_per_s;
        evidence["one_thread_bytes_per_second"] = roof_at(roof, 1);
        if (const model::BandwidthPoint* point = point_at(roof, full.enough))
            evidence["enough_threads_bytes_per_second"] = point->bytes_per_s;
        evidence["thread_count"] = number(full.threads);
        evidence["enough_thread_count"] = number(full.enough);
        evidence["burst_count"] = number(full.bursts);
        evidence["saturated_burst_count"] = number(full.saturated.size());
        evidence["used_memory_node_count"] = number(nodes_at(roof, full.threads));
        evidence["memory_node_count"] = number(memory_nodes(*full.use->host));
        evidence["timed_array_bytes"] = number(roof.bytes);
        std::vector<std::string> words;
        for (const StreamedArray& array : arrays)
            words.push_back(fmt::format("{} ({}, {})", array.words,
                                        array.read && array.written ? "read and written" : array.read ? "read" : "written",
                                        gigabytes(array.bytes_per_s)));
        evidence["arrays"] = words;
        evidence["seen_by"] = std::vector<std::string>{"address sampling", "timed streams"};
    }

    static bool has_openmp(const model::Run& run) {
        return std::ranges::any_of(run.processes, [](const model::Process& process) {
            return std::ranges::any_of(process.modules,
                                       [](const model::Module& module) { return model::is_openmp_module(module.path); });
        });
    }

    static void add_advice(const Saturation& full, const model::Run& run, Finding& finding) {
        const uint32_t used = nodes_at(*full.roof, full.threads), all = memory_nodes(*full.use->host);
        if (used < all)
            finding.advice.push_back({fmt::format("Spread the threads over all {} NUMA nodes", all),
                                      fmt::format("they run on {}; each node has its own path to memory. The threads that use "
                                                  "an array have to touch it first", used == 1 ? "one" :
                                                  fmt::format("{}", used)),
                                      "launch", plumb_run_line(run, "--pin=scatter")});
        const std::string command =
            has_openmp(run) && full.use->loops.size() > 0
                ? fmt::format("OMP_NUM_THREADS={} ", full.enough) + plumb_run_line(run, "--pin=scatter")
                : "";
        finding.advice.push_back(
            {fmt::format("Use {} thread{}{} for {}, and the other CPUs for other work", full.enough,
                         full.enough == 1 ? "" : "s", used > 1 ? fmt::format(" ({} a NUMA node)", (full.enough + used - 1) / used)
                                                              : "",
                         full.loops.size() == 1 ? "this loop" : "these loops"),
             "they move as much; loops that compute on cached data may still need all threads", "launch",
             command});
        finding.advice.push_back(
            {"Move fewer bytes", "fuse consecutive loops over the same arrays; finish all work on a block that fits into the "
                                 "caches before the next block; use single precision or smaller indexes where they are enough; "
                                 "recompute values instead of storing them", "code", ""});
        double all_bytes = 0, saved = 0;
        for (const LoopUse* use : full.loops)
            for (const model::MemoryStream& stream : use->loop->streams) {
                all_bytes += static_cast<double>(stream.read_bytes + stream.written_bytes) * use->time_ns;
                if (!stream.kind.load)
                    saved += static_cast<double>(stream.read_bytes) * use->time_ns;
            }
        if (saved > 0.05 * all_bytes)
            finding.advice.push_back(
                {"Use non-temporal stores",
                 fmt::format("a normal store reads the line first, even if all of it is overwritten: up to {:.0f} % of the "
                             "bytes. Non-temporal stores save that: #pragma omp simd nontemporal(array), "
                             "-qopt-streaming-stores=always (Intel), _mm_stream_pd; do not use them where the data is read "
                             "again soon", 100 * saved / all_bytes),
                 "code", ""});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_bandwidth_saturated() { return std::make_unique<BandwidthSaturated>(); }

} // namespace plumb
