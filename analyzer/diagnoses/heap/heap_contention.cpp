// Threads that wait for one another inside the allocator. Two witnesses: the time that sampled allocator calls
// slept (the shim counts a call as blocked when its thread gave up the CPU in it), and CPU samples in the C library's
// private locks: what it takes to go to sleep and to wake others up.
#include "analyses/analyses.h"
#include "analyses/lines/launch_command.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/heap/contention_replay.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastLockShare = 0.02;      // of the CPU time
constexpr double kLeastAllocatorShare = 0.02; // the locks are the heap's only where the heap is in use
constexpr uint64_t kLeastTimeSamples = 100, kLeastLockHits = 20;
constexpr double kLeastLockConfidence = 0.9;
constexpr double kLeastSleep = 0.03;   // of the run, in each thread
constexpr double kLeastSwitches = 100; // voluntary, a second: waiting threads sleep

// Seconds that threads slept in those calls of the allocator that were timed, a lower bound of all; `lines` gets
// them by source line.
double slept_s(model::CallPaths& paths, LineShares& lines) {
    double sum_s = 0;
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::HeapSite& site : processes[process].heap.sites) {
            const double wait_s = static_cast<double>(site.lock_wait_ns) * 1e-9;
            lines.add(paths.user_frame(process, site.path), wait_s);
            sum_s += wait_s;
        }
    return sum_s;
}

// Seconds that the threads which use the heap slept at all: blocked calls on a busy machine also wait for a CPU.
double asleep_s(const model::Run& run, const HeapProfile& profile) {
    double sum_s = 0;
    for (const auto& [process, index] : profile.threads) {
        const model::Thread& thread = run.processes[process].threads[index];
        const uint64_t life_ns = thread.end_ns - std::min(thread.end_ns, thread.start_ns);
        const uint64_t awake_ns = thread.run_ns + thread.run_delay_ns;
        sum_s += life_ns > awake_ns ? static_cast<double>(life_ns - awake_ns) * 1e-9 : 0;
    }
    return sum_s;
}

class HeapContention : public Diagnosis {
  public:
    const char* id() const override { return "heap-contention"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const RunTotals totals = totals_of(input.run);
        const HeapProfile& profile = input.analyses.heap;
        LineShares waiting_lines;
        const double waiting_s =
            std::min(slept_s(input.paths, waiting_lines), asleep_s(input.run, profile));
        const size_t threads = std::max(profile.lock_threads.size(), profile.threads.size());
        if (totals.wall_s <= 0 || threads < 2 || profile.samples < kLeastTimeSamples ||
            profile.share() < kLeastAllocatorShare ||
            static_cast<double>(totals.voluntary_switches) < kLeastSwitches * totals.wall_s)
            return {};
        const double by_locks = profile.lock_hits < kLeastLockHits
            ? 0 : confidence_above(profile.lock_hits, profile.samples, kLeastLockShare);
        // Threads wait side by side: the run loses the mean over them.
        const double slept_fraction = waiting_s / static_cast<double>(threads) / totals.wall_s;
        if (by_locks < kLeastLockConfidence && slept_fraction < kLeastSleep)
            return {};
        // Threads that hold one another up seldom run side by side: CPU time in the locks is shared out over as many threads
        // as ran at a time, not over all there are. One may be awake in a lock while another sleeps in it: no sum.
        const double locking_s = totals.wall_of_share(profile.lock_share() * profile.program_part());
        Finding finding;
        finding.id = id();
        // Two witnesses that agree are better than one; stdio takes locks of the same kind.
        finding.confidence = by_locks >= kLeastLockConfidence && slept_fraction >= kLeastSleep ? 0.95 : 0.75;
        const double lost_s = std::max(locking_s, waiting_s / static_cast<double>(threads));
        const double shim_part = totals.wall_of_share(1 - profile.program_part()) / totals.wall_s;
        const double seen = std::min(1.0, lost_s / totals.wall_s / (1 - std::min(0.9, shim_part)));
        const double replayed = contention_part(input.run, profile, shim_part).value_or(0);
        finding.cost.fraction = std::max(seen, replayed);
        finding.cost.seconds = finding.cost.fraction * totals.wall_s * (1 - shim_part);
        finding.cost.how = "estimated";
        const LineShares allocating = allocation_lines(input.paths, profile);
        finding.where = (waiting_lines.total() > 0 ? waiting_lines
                         : allocating.total() > 0  ? allocating
                                                   : profile.lock_lines).heaviest(5);
        finding.title = fmt::format("{} threads wait for one another in the memory allocator", threads);
        if (!finding.where.empty())
            finding.title += ", mainly at " + place_name(finding.where[0]);
        finding.gain = {finding.cost.fraction,
                        fmt::format("estimated by replaying the run without waits for the allocator's locks, and with "
                                    "{:.0f} ns for each call of it", kUncontendedCall_s * 1e9),
                        seen};
        finding.subject.kind = "allocation";
        finding.subject.name = finding.where.empty() ? "malloc" : place_name(finding.where[0]);
        finding.evidence["lock_cpu_fraction"] = profile.lock_share();
        finding.evidence["lock_sample_count"] = static_cast<int64_t>(profile.lock_hits);
        finding.evidence["thread_count"] = static_cast<int64_t>(threads);
        finding.evidence["voluntary_switches_per_second"] =
            static_cast<double>(totals.voluntary_switches) / totals.wall_s;
        finding.evidence["lock_wait_seconds"] = waiting_s;
        finding.evidence["seen_waiting_fraction"] = seen;
        finding.advice.push_back({"Use an allocator with a cache for each thread",
            "several rarely take a lock that threads share; which is fastest differs from program to program: this runs those "
            "that are installed in turns with the program as it is", "launch", try_allocators_line(input.run)});
        finding.advice.push_back({"Free blocks in the thread that allocated them, and use more arenas",
            "freeing a block in another thread takes the lock of the owner's arena; check that MALLOC_ARENA_MAX or "
            "mallopt(M_ARENA_MAX) does not limit all threads to one arena", "code", ""});
        return {finding};
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_heap_contention() { return std::make_unique<HeapContention>(); }

} // namespace plumb
