// Parallel regions of OpenMP whose threads have unequal work, so that most of the team waits for the last.
//
// For each region the shim knows how long each thread worked and when it ended. What is lost is the most work less the mean:
// with equal parts all would end at the mean. A thread that was late because it had no CPU, or because it was blocked, has no
// more work than the others: there the CPU time of the threads decides. Barriers inside regions are judged by how much longer
// a thread waits there than the one that waits least.
//
// Threads that stream equal parts through memory need unequal times where memory or another program serves their CPUs unequally.
// No division of the loop cures that: such a loss is no certain gain.
#include "diagnoses/common/equal_work.h"
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastLossShare = 0.01; // of the run
constexpr size_t kMostUnevenRegions = 3;

// A CPU whose core or path to memory another program shares has half of it: so much more may a thread take for equal parts.
constexpr double kUnequalCpus = 2;
constexpr double kMostlyStreams = 0.5; // of the samples in a region
// A chunk lasts long against the microsecond that taking it may need, and a thread takes several of them in each region.
constexpr double kLeastChunk_s = 20e-6;
constexpr double kFewestChunks = 4, kMostChunks = 32; // of each thread

struct Work { // of one thread, over all regions of a place
    const model::OmpPart* part = nullptr;
    double work_s = 0;
};

struct Losses {
    double at_end_s = 0, at_barriers_s = 0; // wall seconds
    double certain_s = 0;                   // without what may be chance
    double without_cpu_s = 0;               // lateness that CPU time does not confirm
    const model::OmpWait* barrier = nullptr; // where most is lost inside
    bool may_be_machine = false;             // equal parts may take as unequal times
    double total_s() const { return at_end_s + at_barriers_s; }
};

double mean_of(const std::vector<Work>& works) {
    double sum = 0;
    for (const Work& work : works)
        sum += work.work_s;
    return works.empty() ? 0 : sum / static_cast<double>(works.size());
}

// The thread with the most work first. Work counts no longer than the thread had a CPU, where that is known.
std::vector<Work> works_of(const model::OmpRegion& region) {
    std::vector<Work> works;
    for (const model::OmpPart& part : region.parts) {
        const double had_cpu = part.clocked_ns > 0 ? static_cast<double>(part.cpu_ns) / static_cast<double>(part.clocked_ns) : 1;
        works.push_back({&part, static_cast<double>(part.work_ns) * 1e-9 * std::min(1.0, had_cpu)});
    }
    std::ranges::stable_sort(works, std::greater<>(), &Work::work_s);
    return works;
}

double cpu_confirms(const model::OmpRegion& region) {
    if (region.clocked == 0 || region.clocked_imbalance_ns == 0)
        return 1;
    return std::min(1.0, static_cast<double>(region.cpu_imbalance_ns) / static_cast<double>(region.clocked_imbalance_ns));
}

// Of work that was clocked, how much had a CPU, in the thread that had least.
double least_cpu_share(const model::OmpRegion& region) {
    double least = 1;
    for (const model::OmpPart& part : region.parts)
        if (part.clocked_ns > 0)
            least = std::min(least, static_cast<double>(part.cpu_ns) / static_cast<double>(part.clocked_ns));
    return least;
}

// Whether most samples of the region's code lie in loops over arrays that no cache keeps.
bool streams(model::CallPaths& paths, const RegionPlace& place) {
    const model::Process& process = paths.run().processes[place.process];
    if (process.streaming_loops.empty() || place.region->function == 0)
        return false;
    const model::SourceFrame region = paths.frames_at(place.process, place.region->function).back();
    if (region.function.empty())
        return false;
    uint64_t all = 0, streaming = 0;
    for (const model::SampleSite& site : process.samples) {
        if (site.path == 0 || site.path >= process.paths.size() || process.paths[site.path].kernel)
            continue;
        const model::SourceFrame& outer = paths.frames_of(place.process, site.path).back();
        if (outer.function != region.function || outer.module != region.module)
            continue;
        const uint64_t address = process.paths[site.path].address;
        all += site.samples;
        if (std::ranges::any_of(process.streaming_loops,
                                [&](const auto& loop) { return address >= loop.begin && address <= loop.end; }))
            streaming += site.samples;
    }
    return static_cast<double>(streaming) > kMostlyStreams * static_cast<double>(all);
}

bool may_be_machine(model::CallPaths& paths, const RegionPlace& place) {
    const std::vector<Work> works = works_of(*place.region);
    return place.region->schedule == model::OmpSchedule::none && works.size() > 1 &&
           works.front().work_s < kUnequalCpus * works.back().work_s && streams(paths, place);
}

Losses losses_of(const model::OpenMp& openmp, const model::OmpRegion& region) {
    Losses losses;
    const double scale = compared_scale(region), confirmed = cpu_confirms(region);
    const double end_s = wall_s_of(region, static_cast<double>(region.imbalance_ns)) * scale;
    losses.at_end_s = end_s * confirmed;
    losses.without_cpu_s = end_s - losses.at_end_s;
    const std::vector<Work> works = works_of(region);
    double most_s = 0;
    for (const model::OmpWait& wait : openmp.waits) {
        if (wait.region == UINT32_MAX || &openmp.regions[wait.region] != &region || wait.waiters.size() < 2 ||
            (wait.kind != model::OmpWaitKind::barrier && wait.kind != model::OmpWaitKind::loop_end))
            continue;
        double sum = 0, least = INFINITY;
        for (const model::OmpWaiter& waiter : wait.waiters) {
            sum += static_cast<double>(waiter.wait_ns);
            least = std::min(least, static_cast<double>(waiter.wait_ns));
        }
        const double lost_s = wall_s_of(region, sum / static_cast<double>(wait.waiters.size()) - least);
        losses.at_barriers_s += lost_s;
        if (lost_s > most_s) {
            most_s = lost_s;
            losses.barrier = &wait;
        }
    }
    // Late at a barrier for want of a CPU, or blocked: as much as had no CPU may not have been work.
    double work_s = 0;
    for (const Work& work : works)
        work_s = std::max(work_s, work.work_s);
    const double doubtful_s = std::min(losses.at_barriers_s, (1 - least_cpu_share(region)) * work_s);
    losses.at_barriers_s -= doubtful_s;
    losses.without_cpu_s += doubtful_s;
    // Small differences may be chance, or the machine's: one CPU of two may be slower for the whole run.
    const double mean_s = mean_of(works);
    const double lasting_s = works.empty() || works.size() > region.most_threads ? 0 : works[0].work_s - mean_of(works);
    const bool is_large = std::max(lasting_s, losses.at_barriers_s) > 2 * kEqualWorkDiffers * mean_s;
    losses.certain_s = is_large ? losses.total_s() : std::max(0.0, losses.total_s() - kEqualWorkDiffers * mean_s);
    return losses;
}

class OmpImbalance : public Diagnosis {
  public:
    const char* id() const override { return "omp-imbalance"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        std::vector<std::pair<RegionPlace, Losses>> order;
        for (const RegionPlace& place : regions_of(input.run))
            if (const Losses losses = losses_of(*input.run.processes[place.process].openmp, *place.region);
                run_s > 0 && losses.total_s() >= kLeastLossShare * run_s)
                order.emplace_back(place, losses);
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.second.total_s(); });
        order.resize(std::min(order.size(), kMostUnevenRegions));
        std::vector<Finding> findings;
        for (auto& [place, losses] : order) {
            losses.may_be_machine = losses.at_end_s >= losses.at_barriers_s && may_be_machine(input.paths, place);
            if (losses.may_be_machine)
                losses.certain_s = 0;
            findings.push_back(finding_of(input, place, losses, run_s));
        }
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const RegionPlace& place, const Losses& losses, double run_s) const {
        const model::OmpRegion& region = *place.region;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        describe_region(input.paths, place, finding);
        finding.cost = {losses.total_s(), std::min(1.0, losses.total_s() / run_s), "measured"};
        finding.gain = {finding.cost.fraction,
                        "the run with equal work for all threads of the team: the most work less the mean, summed over regions",
                        std::min(1.0, losses.certain_s / run_s)};
        const std::vector<Work> works = works_of(region);
        const double mean_s = mean_of(works);
        const bool is_lasting = works.size() > 1 && works[0].work_s - mean_s > losses.at_end_s / 2 && losses.at_end_s >= losses.at_barriers_s;
        if (losses.barrier && losses.at_barriers_s > losses.at_end_s)
            name_barrier(input, place, losses, finding);
        else if (losses.may_be_machine)
            finding.title = fmt::format("Thread {} of {} takes {:.0f} % of the time of a parallel loop over large arrays, and the others "
                                        "wait for it: its part may be larger, or memory may be slower for its CPU",
                                        works[0].part->number, works.size(),
                                        100 * works[0].work_s / (mean_s * static_cast<double>(works.size())));
        else if (is_lasting)
            finding.title = fmt::format("Thread {} of {} does {:.0f} % of the work in a parallel region, and the others wait for it",
                                        works[0].part->number, works.size(),
                                        100 * works[0].work_s / (mean_s * static_cast<double>(works.size())));
        else
            finding.title = fmt::format("Threads of a parallel region wait for the last one, a different thread each time");
        std::vector<std::string> by_thread;
        for (const Work& work : works)
            if (by_thread.size() < 16)
                by_thread.push_back(fmt::format("thread {}: {:.3g} s of work, {:.3g} s waiting at the end", work.part->number,
                                                work.work_s, static_cast<double>(work.part->end_wait_ns) * 1e-9));
        finding.evidence["work_by_thread"] = by_thread;
        finding.evidence["lost_seconds"] = losses.total_s();
        finding.evidence["lost_at_inner_barriers_seconds"] = losses.at_barriers_s;
        finding.evidence["late_without_cpu_seconds"] = losses.without_cpu_s;
        finding.evidence["cpu_clock_read_count"] = static_cast<int64_t>(region.clocked);
        finding.advice.push_back(losses.may_be_machine ? compare_parts() : advice_of(region, is_lasting));
        return finding;
    }

    static void name_barrier(const DiagnosisInput& input, const RegionPlace& place, const Losses& losses, Finding& finding) {
        const auto last = std::ranges::min_element(losses.barrier->waiters, {}, &model::OmpWaiter::wait_ns);
        const auto part = std::ranges::find(place.region->parts, last->thread, &model::OmpPart::thread);
        finding.title = fmt::format("Thread {} of {} comes late to a barrier in a parallel region, and the others wait for it",
                                    part == place.region->parts.end() ? 0 : part->number, losses.barrier->waiters.size());
        LineShares lines;
        lines.add(input.paths.user_frame(place.process, losses.barrier->path), losses.at_barriers_s);
        lines.add(input.paths.user_frame(place.process, place.region->path), std::max(losses.at_end_s, losses.at_barriers_s / 100));
        finding.where = lines.heaviest(2);
    }

    static Advice compare_parts() {
        return {"Compare the parts of the threads first",
                "with equal parts, a static schedule is right: another division of the loop saves nothing; repeat the run on an idle "
                "machine with bound threads, and see whether the same thread is late",
                "launch", "OMP_PROC_BIND=spread"};
    }

    static std::string duration_words(double seconds) {
        return seconds < 1e-3 ? fmt::format("{:.0f} us", seconds * 1e6) : fmt::format("{:.1f} ms", seconds * 1e3);
    }

    // A chunk in terms of the number of iterations, which is not known: by how long a thread works in each region.
    static Advice take_chunks(const model::OmpRegion& region, bool is_lasting) {
        const double parts = std::max(1.0, static_cast<double>(region.compared));
        const double part_s = static_cast<double>(region.mean_work_ns) * 1e-9 / parts;
        const double chunks = std::floor(std::min(kMostChunks, part_s / kLeastChunk_s));
        const std::string why = is_lasting ? "with a static schedule each thread gets an equal number of iterations, not equal work"
                                           : "no static schedule divides work that falls to another thread each time";
        if (chunks < kFewestChunks)
            return {"Give each thread equal work",
                    why + fmt::format("; a thread works for {:.0f} us in each region, too short to hand out chunks: divide the iterations "
                                      "by their work, or do more work in one region", part_s * 1e6),
                    "code", ""};
        const double all = chunks * std::round(team_size(region));
        return {"Let threads take iterations as they finish",
                why + fmt::format("; a chunk of 1/{:.0f} of the iterations lasts some {}, long against the microsecond that taking "
                                  "it may need", all, duration_words(part_s / chunks)),
                "code", fmt::format("#pragma omp parallel for schedule(dynamic, (ITERATIONS + {:.0f}) / {:.0f})", all - 1, all)};
    }

    static Advice advice_of(const model::OmpRegion& region, bool is_lasting) {
        switch (region.schedule) {
        case model::OmpSchedule::dynamic:
        case model::OmpSchedule::guided:
            return {"Hand out smaller pieces",
                    "the last piece of a thread decides when the region ends: use smaller chunks, begin with the longest "
                    "iterations, or divide the longest ones",
                    "code", "schedule(dynamic, CHUNK) with a smaller CHUNK"};
        case model::OmpSchedule::sections:
            return {"Divide the longest section", "sections are not divided further: make tasks or a loop of them", "code", ""};
        case model::OmpSchedule::runtime:
            return {"Let threads take iterations as they finish",
                    "OMP_SCHEDULE chooses how the loop is divided; a chunk should last some ten microseconds", "launch",
                    "OMP_SCHEDULE=dynamic,CHUNK"};
        default:
            return take_chunks(region, is_lasting);
        }
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_imbalance() { return std::make_unique<OmpImbalance>(); }

} // namespace plumb
