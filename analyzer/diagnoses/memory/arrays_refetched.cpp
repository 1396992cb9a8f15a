// Loops that go over the same large arrays one after the other while memory gives all it can: each fetches from memory what the
// one before had in the caches. Done in pieces that stay there, or in one loop, each array comes and goes once.
#include "diagnoses/common/confidence.h"
#include "analyses/analyses.h"
#include "analyses/lines/line_shares.h"
#include "analyses/memory/memory_names.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastFull = 0.5; // of a loop's bursts
// Of the bursts of one loop: so many show one of the others, too. Where loops of less than 70 ms take turns they do: a burst takes
// 13 ms. Where one ran for a second and then the other, one burst in nine may.
constexpr double kMeets = 0.15;
constexpr size_t kFewestBursts = 4;
constexpr double kLeastFraction = 0.01; // of the run, to be saved
constexpr size_t kMostArrays = 8;

struct Traffic { // of one loop, through one array, in the whole run
    double read_B = 0, written_B = 0;
};

struct RefetchedArray {
    uint64_t begin = 0, end = 0; // addresses
    const model::MemoryStream* stream = nullptr; // one of them
    std::map<const LoopUse*, Traffic> by_loop;

    double bytes() const {
        double sum = 0;
        for (const auto& [loop, traffic] : by_loop)
            sum += traffic.read_B + traffic.written_B;
        return sum;
    }
    // Beyond the loop that reads most of it, and the one that writes most.
    double superfluous_bytes() const {
        double read = 0, written = 0;
        for (const auto& [loop, traffic] : by_loop) {
            read = std::max(read, traffic.read_B);
            written = std::max(written, traffic.written_B);
        }
        return bytes() - read - written;
    }
};

bool is_same(const RefetchedArray& array, const model::MemoryStream& stream) {
    const uint64_t begin = std::max(array.begin, stream.lowest_address), end = std::min(array.end, stream.highest_address);
    const uint64_t smaller = std::min(array.end - array.begin, stream.highest_address - stream.lowest_address);
    return begin < end && 2 * (end - begin) >= smaller;
}

void add_stream(std::vector<RefetchedArray>& arrays, const LoopUse& use, const model::MemoryStream& stream, double round_bytes) {
    const double share = use.bytes / std::max(round_bytes, 1.0);
    const auto known = std::ranges::find_if(arrays, [&](const RefetchedArray& array) { return is_same(array, stream); });
    RefetchedArray& array = known != arrays.end() ? *known
                                         : arrays.emplace_back(
                                               RefetchedArray{stream.lowest_address, stream.highest_address, &stream, {}});
    array.begin = std::min(array.begin, stream.lowest_address);
    array.end = std::max(array.end, stream.highest_address);
    Traffic& traffic = array.by_loop[&use];
    traffic.read_B += share * static_cast<double>(stream.read_bytes);
    traffic.written_B += share * static_cast<double>(stream.written_bytes);
}

// Loops of one process that memory holds up, and that run in turn with the longest of them: in the same bursts, or each sweep
// after one of those that do, or before it. By time.
std::vector<const LoopUse*> loops_that_meet(const BandwidthUse& use) {
    std::vector<const LoopUse*> loops, others;
    for (const LoopUse& loop : use.loops)
        if (loop.full_fraction >= kLeastFull && loop.time_ns > 0)
            others.push_back(&loop);
    std::set<uint64_t> bursts; // of those that meet
    const auto meets = [&](const LoopUse* loop) {
        const auto common = std::ranges::count_if(loop->loop->bursts, [&](const model::TrafficBurst& burst) {
            return bursts.contains(burst.begin_ns);
        });
        const auto in_turn = [&](const LoopUse* other) {
            return loop->loop->after == other->loop->begin || other->loop->after == loop->loop->begin;
        };
        return loops.empty() || (loop->process == loops[0]->process &&
                                 (static_cast<double>(common) >= kMeets * static_cast<double>(loop->loop->bursts.size()) ||
                                  std::ranges::any_of(loops, in_turn)));
    };
    for (auto next = std::ranges::find_if(others, meets); next != others.end(); next = std::ranges::find_if(others, meets)) {
        for (const model::TrafficBurst& burst : (*next)->loop->bursts)
            bursts.insert(burst.begin_ns);
        loops.push_back(*next);
        others.erase(next);
    }
    std::ranges::stable_sort(loops, std::greater{}, &LoopUse::time_ns);
    return loops;
}

class ArraysRefetched : public Diagnosis {
  public:
    const char* id() const override { return "arrays-refetched"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        const RunTotals totals = totals_of(input.run);
        if (totals.sampled_s <= 0 || totals.wall_s <= 0)
            return findings;
        for (const BandwidthUse& use : input.analyses.bandwidth) {
            const std::vector<const LoopUse*> loops = loops_that_meet(use);
            if (loops.size() < 2)
                continue;
            Finding finding = finding_of(use, loops, input, totals);
            if (finding.cost.fraction >= kLeastFraction && finding.confidence >= kLeastConfidence)
                findings.push_back(std::move(finding));
        }
        return findings;
    }

  private:
    static Finding finding_of(const BandwidthUse& use, const std::vector<const LoopUse*>& loops, const DiagnosisInput& input,
                              const RunTotals& totals) {
        std::vector<RefetchedArray> arrays;
        LineShares lines;
        double time_ns = 0, full_bytes_per_s = 0;
        for (const LoopUse* loop : loops) {
            double round_bytes = 0;
            for (const model::MemoryStream& stream : loop->loop->streams)
                round_bytes += static_cast<double>(stream.read_bytes + stream.written_bytes);
            for (const model::MemoryStream& stream : loop->loop->streams)
                add_stream(arrays, *loop, stream, round_bytes);
            for (const model::SampleSite* site : loop->sites)
                lines.add(input.paths.user_frame(loop->process, site->path), static_cast<double>(site->time_ns));
            time_ns += loop->time_ns * loop->full_fraction;
        }
        std::erase_if(arrays, [](const RefetchedArray& array) { return array.bytes() <= 0; });
        std::ranges::stable_sort(arrays, std::greater{}, &RefetchedArray::superfluous_bytes);
        double bytes = 0, superfluous = 0;
        for (const RefetchedArray& array : arrays) {
            bytes += array.bytes();
            superfluous += array.superfluous_bytes();
        }
        size_t bursts = 0, full = 0;
        for (const HostBurst& burst : use.bursts) {
            ++bursts;
            full += burst.full;
            full_bytes_per_s += burst.full ? burst.bytes_per_s() : 0;
        }
        Finding finding;
        finding.id = "arrays-refetched";
        const double share = std::min(1.0, time_ns * 1e-9 / totals.sampled_s);
        finding.cost.seconds = bytes > 0 ? totals.wall_of_share(share) * superfluous / bytes : 0;
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
        finding.confidence = full < kFewestBursts ? 0 : confidence_above(full, bursts, kLeastFull);
        finding.gain = {finding.cost.fraction, "estimated: the time of these loops goes down with the bytes that they move, if each array "
                                               "is fetched and written back once for all of them. Where a loop needs a result of the "
                                               "whole loop before it, as after a sum, that is not possible"};
        finding.where = lines.heaviest(kMostLines);
        finding.title = fmt::format("{} loops fetch the same arrays from memory one after the other and use all its bandwidth, {:.1f} "
                                    "GB/s", loops.size(), full ? full_bytes_per_s / static_cast<double>(full) * 1e-9 : 0);
        finding.subject.kind = "call-site";
        finding.subject.name = finding.where.empty() ? "unknown" : place_name(finding.where[0]);
        add_evidence(arrays, loops, input.paths, bytes, superfluous, finding);
        finding.advice.push_back({"Do the loops together",
                                  "fuse loops over the same arrays, or do all of them on a block that fits into the caches before the "
                                  "next block", "code", ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }

    static void add_evidence(const std::vector<RefetchedArray>& arrays, const std::vector<const LoopUse*>& loops,
                             model::CallPaths& paths, double bytes, double superfluous, Finding& finding) {
        MemoryNames names(paths, loops[0]->process);
        std::vector<std::string> words;
        for (const RefetchedArray& array : arrays) {
            if (array.by_loop.size() < 2 || words.size() == kMostArrays)
                continue;
            const model::StreamingLoop& loop = *array.by_loop.begin()->first->loop;
            words.push_back(fmt::format("{} ({} loops)",
                                        names.at(array.stream->last_address, model::MemoryTraffic::kNone, loop.first_ns, loop.last_ns,
                                                 array.stream->kind.width, array.stream->instruction).words(),
                                        array.by_loop.size()));
        }
        finding.evidence["arrays"] = words;
        finding.evidence["loop_count"] = static_cast<int64_t>(loops.size());
        finding.evidence["moved_bytes"] = bytes;
        finding.evidence["moved_again_bytes"] = superfluous;
        finding.evidence["seen_by"] = std::vector<std::string>{"address sampling", "timed streams"};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_arrays_refetched() { return std::make_unique<ArraysRefetched>(); }

} // namespace plumb
