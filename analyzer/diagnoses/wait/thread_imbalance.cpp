// Threads of one pool with unequal work: the others wait for the slow one at a barrier, or have ended when it still runs and is
// joined.
#include "analyses/lines/line_shares.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/late_threads.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostPools = 2;
constexpr double kOneIsLate = 0.6; // of the time that the others wait
// Equal work takes up to so much more CPU time on one CPU than on another: frequency, a neighbour on the same core, a hypervisor.
constexpr double kSpeedsDiffer = 0.25;

class ThreadImbalance : public Diagnosis {
  public:
    const char* id() const override { return "thread-imbalance"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<LateThreads> order;
        for (LateThreads& group : late_threads(input, replay))
            if (is_known_well(group.looks, group.saved_s / replay.wall_s()))
                order.push_back(std::move(group));
        std::ranges::stable_sort(order, std::greater<>(), &LateThreads::saved_s);
        order.resize(std::min(order.size(), kMostPools));
        std::vector<Finding> findings;
        for (const LateThreads& group : order)
            findings.push_back(finding_of(input, replay, group));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const LateThreads& group) const {
        const model::Process& process = input.run.processes[group.process];
        const double wall_s = replay.wall_s();
        std::vector<std::pair<double, uint32_t>> late; // the latest first
        double late_s = 0;
        for (const auto& [thread, seconds] : group.late_s) {
            late.emplace_back(seconds, thread);
            late_s += seconds;
        }
        std::ranges::sort(late, std::greater<>());
        const bool is_one = late[0].first >= kOneIsLate * late_s;
        std::vector<Task> slow;
        for (const auto& [seconds, thread] : late)
            if (slow.empty() || !is_one)
                slow.push_back({group.process, thread});
        const LineShares lines = lines_of(input.paths, slow);
        const std::string name = task_name(input.run, slow[0]);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.cost.seconds = group.waiting_s / static_cast<double>(group.members);
        finding.cost.fraction = std::min(1.0, finding.cost.seconds / wall_s);
        finding.where = lines.heaviest(kMostLines);
        const std::string others = group.members == 2 ? "another thread" : fmt::format("{} other threads", group.members - 1);
        if (!group.at_barrier)
            finding.title = fmt::format("{} still runs when {} of its pool {} done", name, others,
                                        group.members == 2 ? "is" : "are");
        else
            finding.title = fmt::format("{} makes {} wait at a barrier", name, others);
        if (!finding.where.empty())
            finding.title += ", at " + place_name(finding.where[0]);
        const double certain_s = std::clamp(group.saved_s - kSpeedsDiffer * group.mean_run_s, 0.0, group.saved_s);
        finding.gain = {group.saved_s / wall_s, "if all threads of the pool had the same share of the work", certain_s / wall_s};
        finding.subject.kind = "thread";
        finding.subject.name = name;
        finding.subject.details["process"] = process.name;
        finding.evidence["pool_thread_count"] = static_cast<int64_t>(group.members);
        finding.evidence["waiting_seconds"] = group.waiting_s;
        finding.evidence["look_count"] = static_cast<int64_t>(group.looks);
        finding.evidence["late_thread_run_seconds"] = group.late_run_s;
        finding.evidence["pool_mean_run_seconds"] = group.mean_run_s;
        std::vector<std::string> at;
        for (const Location& location : group.waiting_at.heaviest(kMostLines))
            at.push_back(place_name(location));
        finding.evidence["waiting_at"] = at;
        finding.advice.push_back({"Divide the work by its cost, not by its count",
            "let each thread take the next small piece from a common counter when it is done with one; or give pieces of unequal "
            "cost to threads in turn", "code", ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_thread_imbalance() { return std::make_unique<ThreadImbalance>(); }

} // namespace plumb
