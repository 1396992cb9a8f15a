// Critical sections, locks and ordered parts of OpenMP that threads of a team wait for.
//
// The shim times calls that find a critical taken, and few of those that look free. Where a critical is entered millions of times,
// each entry takes time as well, and most waits are too short to be timed: there the samples below the runtime's functions that
// enter and leave it show the time that the calls take. The larger of the two figures counts.
//
// Threads that take turns all wait: the run loses their waits divided among the team. But a thread that enters again before another
// one wakes up takes all of its turns first. The other one waits for all of them at once, and the first one then waits for it at the
// end of the region. Without the critical neither waits, so the run loses the whole wait. How much of the wait at the end has this
// cause is not known: that part is an estimate.
#include "analyses/time/openmp_call.h"
#include "analyses/time/own_time.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastWaitingShare = 0.01; // of the run
constexpr size_t kMostCriticals = 3, kMostCriticalLines = 4;

// All waits for one object: critical sections of one name, one lock, the locks of one place, ordered parts of one region.
struct Contention {
    model::OmpWaitKind kind = model::OmpWaitKind::critical;
    LineShares lines;
    std::map<uint32_t, double> waited_s; // by thread
    double wait_s = 0, hold_s = 0;
    double divided_s = 0; // the waits, divided among the team
    double lost_s = 0;    // the same, or more where the team then waits for a thread that waited here
    double certain_s = 0; // of lost_s
    double most_team = 1, sampled_s = 0; // CPU time in the calls that enter and leave, by samples
    std::vector<model::SourceFrame> entries;
    uint64_t calls = 0, timed = 0, holds = 0;
    double longest_s = 0;

    // A lock takes time to enter and to leave where nobody waits for it, too. Many locks look like one here: what is not timed as
    // a wait may be just that, and is not certain. A critical section is one for all.
    void count_samples() {
        const double by_samples_s = sampled_s / most_team;
        certain_s = kind == model::OmpWaitKind::lock ? divided_s : std::max(divided_s, by_samples_s);
        lost_s = std::max(lost_s, by_samples_s);
    }
};
using Key = std::tuple<uint32_t, model::OmpWaitKind, uint64_t>; // process, kind, object or place

double team_of(const model::OpenMp& openmp, const model::OmpWait& wait) {
    const double waiting = static_cast<double>(wait.waiters.size());
    if (wait.region == UINT32_MAX)
        return waiting;
    const model::OmpRegion& region = openmp.regions[wait.region];
    return std::max({waiting, team_size(region), static_cast<double>(region.most_threads)});
}

// How long each thread of a region waited for the others: at the end of the region, and of its loops.
std::map<uint32_t, double> waits_for_team(const model::OpenMp& openmp, uint32_t region) {
    std::map<uint32_t, double> waited_s;
    for (const model::OmpPart& part : openmp.regions[region].parts)
        waited_s[part.thread] += seconds(part.end_wait_ns) * compared_scale(openmp.regions[region]);
    for (const model::OmpWait& wait : openmp.waits)
        if (wait.region == region && (wait.kind == model::OmpWaitKind::barrier || wait.kind == model::OmpWaitKind::loop_end))
            for (const model::OmpWaiter& waiter : wait.waiters)
                waited_s[waiter.thread] += seconds(waiter.wait_ns);
    return waited_s;
}

// How much sooner the team might be done if nobody waited here, in seconds. Each thread can save its waits here and for the team, so
// the team saves no more than the thread that has least of both, and no more than the longest wait here. 0: the region is not known,
// or not all of its threads.
double lost_by_all(const model::OpenMp& openmp, const model::OmpWait& wait) {
    if (wait.region == UINT32_MAX)
        return 0;
    std::map<uint32_t, double> all_s = waits_for_team(openmp, wait.region);
    if (static_cast<double>(all_s.size()) < team_of(openmp, wait))
        return 0;
    double longest_s = 0;
    for (const model::OmpWaiter& waiter : wait.waiters) {
        all_s[waiter.thread] += seconds(waiter.wait_ns);
        longest_s = std::max(longest_s, seconds(waiter.wait_ns));
    }
    return std::min(longest_s, std::ranges::min_element(all_s, {}, &std::pair<const uint32_t, double>::second)->second);
}

void add(model::CallPaths& paths, uint32_t process, const model::OpenMp& openmp, const model::OmpWait& wait, Contention& to) {
    to.kind = wait.kind;
    double wait_s = 0;
    for (const model::OmpWaiter& waiter : wait.waiters) {
        const double its_s = seconds(waiter.wait_ns);
        to.waited_s[waiter.thread] += its_s;
        wait_s += its_s;
        to.calls += waiter.calls;
        to.timed += waiter.timed;
        to.holds += waiter.holds;
        to.hold_s += seconds(waiter.hold_ns);
        to.longest_s = std::max(to.longest_s, seconds(waiter.longest_ns));
    }
    to.wait_s += wait_s;
    to.most_team = std::max(to.most_team, team_of(openmp, wait));
    to.entries.push_back(paths.user_frame(process, wait.path));
    const double had_cpu = share_with_cpu(paths.run().processes[process]), divided_s = wait_s / team_of(openmp, wait);
    to.divided_s += divided_s * had_cpu;
    to.lost_s += std::max(divided_s, lost_by_all(openmp, wait)) * had_cpu;
    to.lines.add(paths.user_frame(process, wait.path), wait_s);
}

std::string words_of(model::OmpWaitKind kind) {
    switch (kind) {
    case model::OmpWaitKind::lock: return "an OpenMP lock";
    case model::OmpWaitKind::ordered: return "their turn in an ordered part of a loop";
    default: return "a critical section";
    }
}

// The contention whose entry stands at `frame`; for a call that leaves, the nearest entry above it in the same function. Null: none.
Contention* contention_at(std::map<Key, Contention>& all, uint32_t process, const model::SourceFrame& frame, bool leaves) {
    Contention* found = nullptr;
    uint32_t nearest = 0;
    for (auto& [key, contention] : all)
        for (const model::SourceFrame& entry : contention.entries)
            if (std::get<0>(key) == process && contention.kind != model::OmpWaitKind::ordered && entry.line != 0 &&
                entry.module == frame.module && entry.file == frame.file && entry.function == frame.function &&
                (leaves ? entry.line <= frame.line : entry.line == frame.line) && entry.line > nearest) {
                found = &contention;
                nearest = entry.line;
            }
    return found;
}

void add_samples(model::CallPaths& paths, uint32_t process, std::map<Key, Contention>& all) {
    const model::Process& of = paths.run().processes[process];
    std::vector<double> sampled_ns(of.threads.size());
    for (const model::SampleSite& site : of.samples)
        if (site.thread < sampled_ns.size())
            sampled_ns[site.thread] += static_cast<double>(site.time_ns);
    for (const model::SampleSite& site : of.samples) {
        if (site.thread >= sampled_ns.size() || sampled_ns[site.thread] <= 0 || is_own_code(paths, process, site.path))
            continue;
        const OpenMpCall call = openmp_call_of(paths, process, site.path);
        if (call != OpenMpCall::entering_critical && call != OpenMpCall::leaving_critical)
            continue;
        const model::SourceFrame frame = paths.user_frame(process, site.path);
        if (Contention* const contention = contention_at(all, process, frame, call == OpenMpCall::leaving_critical))
            contention->sampled_s += thread_times(of.threads[site.thread]).run_s * static_cast<double>(site.time_ns) / sampled_ns[site.thread];
    }
}

class OmpCritical : public Diagnosis {
  public:
    const char* id() const override { return "omp-critical"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        std::map<Key, Contention> all;
        for (uint32_t process = 0; process < input.run.processes.size(); ++process) {
            const auto& openmp = input.run.processes[process].openmp;
            if (!openmp)
                continue;
            for (const model::OmpWait& wait : openmp->waits)
                if (wait.kind == model::OmpWaitKind::critical || wait.kind == model::OmpWaitKind::lock ||
                    wait.kind == model::OmpWaitKind::ordered)
                    add(input.paths, process, *openmp, wait,
                        all[{process, wait.kind, wait.kind == model::OmpWaitKind::critical || wait.object ? wait.object : wait.call_site}]);
        }
        for (uint32_t process = 0; process < input.run.processes.size(); ++process)
            if (input.run.processes[process].openmp)
                add_samples(input.paths, process, all);
        for (auto& [key, contention] : all)
            contention.count_samples();
        std::vector<std::pair<Key, const Contention*>> order;
        for (const auto& [key, contention] : all)
            if (run_s > 0 && contention.lost_s >= kLeastWaitingShare * run_s && contention.waited_s.size() > 1)
                order.emplace_back(key, &contention);
        std::ranges::stable_sort(order, std::greater<>(), [](const auto& entry) { return entry.second->lost_s; });
        order.resize(std::min(order.size(), kMostCriticals));
        std::vector<Finding> findings;
        for (const auto& [key, contention] : order)
            findings.push_back(finding_of(input, key, *contention, run_s));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const Key& key, const Contention& of, double run_s) const {
        const uint32_t process = std::get<0>(key);
        const uint64_t object = std::get<2>(key);
        const auto named = object && of.kind != model::OmpWaitKind::ordered
                               ? input.paths.static_at(process, {.address = object, .code = {}}) : std::nullopt;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        finding.title = fmt::format("{} threads of a team wait for {}", of.waited_s.size(), words_of(of.kind));
        if (named)
            finding.title += " (`" + named->name + "`)";
        finding.cost = {of.lost_s, std::min(1.0, of.lost_s / run_s), of.lost_s > of.certain_s ? "estimated" : "measured"};
        // A thread that lacks a CPU may hold what others wait for: as much waiting may be its doing.
        const double certain = std::min(1.0, of.certain_s / run_s);
        finding.gain = {finding.cost.fraction,
                        "the run without these waits, and without entering and leaving, divided among the threads of the team; more "
                        "where the team then waits for a thread that waited here",
                        certain * std::max(0.0, 2 * share_with_cpu(input.run.processes[process]) - 1)};
        finding.where = of.lines.heaviest(kMostCriticalLines);
        finding.subject.kind = named ? "variable" : "call-site";
        finding.subject.name = named ? named->name : finding.where.empty() ? "" : place_name(finding.where[0]);
        finding.subject.details["process"] = input.run.processes[process].name;
        finding.evidence["waiting_seconds"] = of.wait_s;
        finding.evidence["entering_and_leaving_cpu_seconds"] = of.sampled_s;
        finding.evidence["waiting_thread_count"] = static_cast<int64_t>(of.waited_s.size());
        finding.evidence["timed_call_count"] = static_cast<int64_t>(of.timed);
        finding.evidence["longest_wait_seconds"] = of.longest_s;
        if (of.kind == model::OmpWaitKind::critical)
            finding.evidence["call_count"] = static_cast<int64_t>(of.calls);
        if (of.holds > 0) {
            finding.evidence["held_seconds"] = of.hold_s;
            finding.evidence["mean_hold_seconds"] = of.hold_s / static_cast<double>(of.holds);
        }
        finding.advice.push_back(advice_of(of.kind));
        return finding;
    }

    static Advice advice_of(model::OmpWaitKind kind) {
        if (kind == model::OmpWaitKind::ordered)
            return {"Take the ordered part out of the loop",
                    "store each iteration's result in an array, and go through it in order after the loop", "code", ""};
        return {"Let each thread collect its own result",
                "a reduction clause, or a private copy merged once after the loop; a single addition needs only `#pragma omp atomic`; "
                "data of several parts: a lock for each part",
                "code", "#pragma omp parallel for reduction(+:sum)"};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_critical() { return std::make_unique<OmpCritical>(); }

} // namespace plumb
