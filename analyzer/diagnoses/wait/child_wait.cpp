// A process that computes, and again and again waits for child processes to end, so that only one of both goes on at a time.
//
// Waiting for children is what launchers, shells and make are for: a process that does little itself is no finding. Whether the
// parent needs what the child makes before it can go on was not seen: the gain is a bound, and nothing of it is certain.
#include "analyses/lines/line_shares.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastShare = 0.10; // of the run: waiting for children, and as much of its own work

struct ChildWait {
    double seconds = 0, wall_s = 0;
    uint64_t looks = 0;
    std::set<uint32_t> children; // processes
    std::set<uint32_t> family;   // with all that descend from them
    LineShares waiting_at;
};

// A process, with all programs that it executed, and all that descend from it, by the ids that processes know themselves by.
std::set<uint32_t> family_of(const model::Run& run, uint32_t first) {
    std::multimap<uint32_t, uint32_t> children;
    std::set<uint32_t> family;
    std::vector<uint32_t> open;
    for (uint32_t process = 0; process < run.processes.size(); ++process)
        if (run.processes[process].host == run.processes[first].host &&
            run.processes[process].pid_namespace == run.processes[first].pid_namespace) {
            children.emplace(run.processes[process].parent_pid, process);
            if (run.processes[process].pid == run.processes[first].pid && family.insert(process).second)
                open.push_back(process);
        }
    while (!open.empty()) {
        const uint32_t parent = open.back();
        open.pop_back();
        for (auto [child, end] = children.equal_range(run.processes[parent].pid); child != end; ++child)
            if (family.insert(child->second).second)
                open.push_back(child->second);
    }
    return family;
}

class ChildWaits : public Diagnosis {
  public:
    const char* id() const override { return "child-wait"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<Finding> findings;
        for (uint32_t process = 0; process < input.run.processes.size(); ++process) {
            const ChildWait wait = wait_of(input.paths, replay, process);
            const double own_s = own_s_of(input.run.processes[process]);
            const double gain_s = std::min({own_s, wait.wall_s, replay.wall_s() - replay.busy_bound_s()});
            if (wait.wall_s >= kLeastShare * replay.wall_s() && own_s >= kLeastShare * replay.wall_s() && gain_s > 0 &&
                is_known_well(wait.looks, gain_s / replay.wall_s()))
                findings.push_back(finding_of(input, replay, process, wait, own_s, gain_s));
        }
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) { return finding.gain.fraction; });
        findings.resize(std::min<size_t>(findings.size(), 1));
        return findings;
    }

  private:
    static double own_s_of(const model::Process& process) {
        double run_s = 0;
        for (const model::Thread& thread : process.threads)
            run_s = std::max(run_s, thread_times(thread).run_s);
        return run_s;
    }

    static ChildWait wait_of(model::CallPaths& paths, const WaitReplay& replay, uint32_t process) {
        ChildWait wait;
        for (const model::WaitedFor& waited : paths.run().processes[process].waited_for) {
            if (waited.relation != model::WaitedFor::Relation::child || waited.peer_process == process)
                continue;
            const double time_s = static_cast<double>(waited.time_ns) * replay.blocked_scale(process, waited.thread);
            wait.seconds += time_s;
            wait.looks += waited.looks;
            wait.children.insert(waited.peer_process);
            wait.waiting_at.add(paths.user_frame(process, waited.path), time_s);
        }
        // With hindsight the wall time is followed from the child on, not over the wait for it.
        double wall_ns = 0;
        for (const uint32_t child : wait.children)
            wait.family.merge(family_of(paths.run(), child));
        for (const uint32_t member : wait.family) {
            for (const model::Thread& thread : paths.run().processes[member].threads)
                wall_ns += static_cast<double>(thread.wall_running_ns);
            for (const model::BlockedSite& site : paths.run().processes[member].blocked)
                wall_ns += static_cast<double>(site.wall_ns);
        }
        wait.wall_s = std::min(wait.seconds, wall_ns * replay.wall_scale());
        return wait;
    }

    static std::string name_of(const model::Process& process) { return fmt::format("{} ({})", process.name, process.pid); }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, uint32_t process, const ChildWait& wait, double own_s,
                       double gain_s) const {
        const double wall_s = replay.wall_s();
        std::vector<Task> tasks;
        std::map<std::string, double> run_s; // by the program's name
        for (const uint32_t member : wait.family)
            for (uint32_t thread = 0; thread < input.run.processes[member].threads.size(); ++thread) {
                tasks.push_back({member, thread});
                run_s[input.run.processes[member].name] += thread_times(input.run.processes[member].threads[thread]).run_s;
            }
        const auto most = std::ranges::max_element(run_s, {}, [](const auto& entry) { return entry.second; });
        const LineShares lines = lines_of(input.paths, tasks);
        const std::string child = wait.children.size() == 1 ? name_of(input.run.processes[*wait.children.begin()])
                              : most == run_s.end() ? std::string("child processes")
                                                    : fmt::format("child processes ({})", most->first);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.title = fmt::format("{} waits for {} in {:.0f} % of the run, and computes in {:.0f} % of it",
                                    name_of(input.run.processes[process]), child, 100 * std::min(1.0, wait.wall_s / wall_s),
                                    100 * std::min(1.0, own_s / wall_s));
        finding.cost = {std::min(wall_s, wait.wall_s), std::min(1.0, wait.wall_s / wall_s), "estimated"};
        finding.gain = {gain_s / wall_s,
                        "if both compute at the same time; whether the parent needs what the child makes before it can go on "
                        "was not seen", 0.0};
        finding.where = lines.heaviest(kMostLines);
        finding.subject.kind = "process";
        finding.subject.name = most == run_s.end() ? child : most->first;
        finding.subject.details["waiting_process"] = name_of(input.run.processes[process]);
        finding.evidence["waiting_seconds"] = wait.seconds;
        finding.evidence["own_run_seconds"] = own_s;
        finding.evidence["seen_child_process_count"] = static_cast<int64_t>(wait.children.size());
        finding.evidence["child_run_seconds"] = most == run_s.end() ? 0 : most->second;
        finding.evidence["look_count"] = static_cast<int64_t>(wait.looks);
        std::vector<std::string> at;
        for (const Location& location : wait.waiting_at.heaviest(kMostLines))
            at.push_back(place_name(location));
        finding.evidence["waiting_at"] = at;
        finding.advice.push_back({"Go on while the child works",
                                  "start it, compute what does not need its result, and wait for it when the result is needed", "code",
                                  ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_child_wait() { return std::make_unique<ChildWaits>(); }

} // namespace plumb
