// Threads that wait for one another inside the allocator. Two witnesses: CPU samples in the C library's private
// locks (the time it takes to go to sleep and to wake others up; the sleep itself leaves no samples), and the
// time that sampled allocator calls took beyond their usual.
#include "diagnoses/confidence.h"
#include "diagnoses/heap_profile.h"
#include "diagnoses/launch_command.h"
#include "diagnoses/registry.h"
#include "diagnoses/run_totals.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastLockShare = 0.02; // of the CPU time
constexpr double kLeastHeapShare = 0.02; // the locks are the heap's only where the heap is in use
constexpr uint64_t kLeastSamples = 200, kLeastLockHits = 20;
constexpr double kLeastConfidence = 0.9;
constexpr double kLeastSwitches = 100; // voluntary, a second: waiting threads sleep

// Estimated seconds that all threads together waited in allocating calls; `lines` gets them by source line.
double waited_s(model::CallPaths& paths, LineShares& lines) {
    double sum_s = 0;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::HeapSite& site : processes[process].heap.sites) {
            if (site.samples == 0 || site.lock_wait_ns == 0)
                continue;
            const double mean_s = static_cast<double>(site.lock_wait_ns) * 1e-9 / static_cast<double>(site.samples);
            const double wait_s = mean_s * static_cast<double>(site.allocations);
            lines.add(paths.user_frame(process, site.path), wait_s);
            sum_s += wait_s;
        }
    return sum_s;
}

class HeapContention : public Diagnosis {
  public:
    const char* id() const override { return "heap-contention"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const HeapProfile profile = heap_profile_of(input.paths);
        const RunTotals totals = totals_of(input.run);
        const double confidence = confidence_above(profile.lock_hits, profile.samples, kLeastLockShare);
        const size_t threads = profile.lock_threads.size();
        if (totals.wall_s <= 0 || profile.samples < kLeastSamples || profile.lock_hits < kLeastLockHits ||
            confidence < kLeastConfidence || threads < 2 || profile.share() < kLeastHeapShare ||
            static_cast<double>(totals.voluntary_switches) < kLeastSwitches * totals.wall_s)
            return {};
        LineShares waiting_lines;
        const double waiting_s = waited_s(input.paths, waiting_lines);
        const double locking_s = profile.lock_share() * totals.cpu_s;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9 * confidence; // stdio takes locks of the same kind
        // Threads wait side by side: the run loses the mean over them. What they waited includes going to sleep.
        const double lost_s = std::max(locking_s, waiting_s) / static_cast<double>(threads);
        finding.cost.seconds = std::min(lost_s, totals.wall_s);
        finding.cost.fraction = finding.cost.seconds / totals.wall_s;
        finding.cost.how = "estimated";
        finding.severity = severity_of_cost(finding.cost.fraction);
        const LineShares allocating = allocation_lines(input.paths, profile);
        finding.where = (waiting_lines.total() > 0 ? waiting_lines
                         : allocating.total() > 0  ? allocating
                                                   : profile.lock_lines).heaviest(5);
        finding.title = fmt::format("{} threads wait for one another in the memory allocator", threads);
        if (!finding.where.empty())
            finding.title += ", most of all at " + place_name(finding.where[0]);
        finding.gain = {finding.cost.fraction, "upper bound: no waiting for the allocator's locks"};
        finding.subject.kind = "allocation";
        finding.subject.name = finding.where.empty() ? "malloc" : place_name(finding.where[0]);
        finding.evidence["lock_cpu_fraction"] = profile.lock_share();
        finding.evidence["lock_sample_count"] = static_cast<int64_t>(profile.lock_hits);
        finding.evidence["thread_count"] = static_cast<int64_t>(threads);
        finding.evidence["voluntary_switches_per_second"] =
            static_cast<double>(totals.voluntary_switches) / totals.wall_s;
        if (waiting_s > 0)
            finding.evidence["lock_wait_seconds"] = waiting_s;
        finding.advice.push_back({"Use an allocator with a cache for each thread",
            "jemalloc, tcmalloc and mimalloc rarely take a lock that two threads share", "launch",
            input.run.command.empty()
                ? std::string()
                : "LD_PRELOAD=libjemalloc.so.2 plumb run -- " + shell_line(input.run.command)});
        finding.advice.push_back({"Free where you allocate, and more arenas",
            "a block freed by another thread than its owner takes the owner's lock; check that MALLOC_ARENA_MAX or "
            "mallopt(M_ARENA_MAX) does not confine all threads to one arena", "code", ""});
        return {finding};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_heap_contention() { return std::make_unique<HeapContention>(); }

} // namespace plumb
