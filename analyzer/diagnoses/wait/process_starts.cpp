// A program that starts processes by the hundred, each of which ends within milliseconds.
//
// What counts is the wall time that depended on these processes, and on their starter while it started or awaited them, less what
// plumb itself cost in them, as a part of the wall time less that. How much of it is starting and how much is work that they do
// was not seen: nothing of them is sampled. So the gain is a bound. Shells, launchers and build drivers are there to start
// processes and are not blamed.
#include "analyses/lines/line_shares.h"
#include "analyses/time/short_lived.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/wait_replay.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <plumb/build_drivers.h>
#include <tuple>

namespace plumb {

namespace {

constexpr size_t kLeastProcesses = 100;
constexpr size_t kMostOfCommandLine = 10; // processes; a shell that starts more runs a script

struct Started {
    size_t count = 0;
    double life_s = 0, wall_s = 0, own_cost_s = 0;
    std::map<std::string, size_t> programs;
};

class Starters {
  public:
    explicit Starters(const model::Run& run) : run_(run) {
        for (uint32_t process = 0; process < run.processes.size(); ++process) {
            by_pid_.emplace(Key(run.processes[process].host, run.processes[process].pid_namespace, run.processes[process].pid),
                            process);
            short_.push_back(is_short_lived(run, run.processes[process]));
        }
        children_.resize(run.processes.size());
        for (const model::Process& process : run.processes)
            if (const std::optional<uint32_t> parent = parent_of(process))
                ++children_[*parent];
    }

    // By the process that started them, itself or through a shell that ran one command line for it.
    std::map<uint32_t, Started> started(double wall_scale) const {
        std::map<uint32_t, Started> result;
        for (uint32_t process = 0; process < run_.processes.size(); ++process)
            if (short_[process])
                if (const std::optional<uint32_t> starter = starter_of(process))
                    add(run_.processes[process], wall_scale, result[*starter]);
        return result;
    }

  private:
    using Key = std::tuple<std::string, uint64_t, uint32_t>; // host, PID namespace, pid

    // The PID namespace of a process that was recorded from outside is not known.
    std::optional<uint32_t> parent_of(const model::Process& process) const {
        for (const uint64_t pid_namespace : {process.pid_namespace, uint64_t{0}})
            if (const auto parent = by_pid_.find({process.host, pid_namespace, process.parent_pid}); parent != by_pid_.end())
                return parent->second;
        return std::nullopt;
    }

    std::optional<uint32_t> starter_of(uint32_t process) const {
        for (size_t steps = 0; steps < run_.processes.size(); ++steps) {
            const std::optional<uint32_t> parent = parent_of(run_.processes[process]);
            if (!parent || *parent == process)
                return std::nullopt;
            process = *parent;
            const model::Process& found = run_.processes[process];
            if (short_[process] || (!found.has_shim && children_[process] <= kMostOfCommandLine))
                continue;
            const bool is_meant_to = !found.has_shim || std::ranges::find(kBuildDrivers, found.name) != std::end(kBuildDrivers);
            return is_meant_to ? std::nullopt : std::optional(process);
        }
        return std::nullopt;
    }

    static void add(const model::Process& process, double wall_scale, Started& to) {
        ++to.count;
        ++to.programs[process.name];
        to.own_cost_s += static_cast<double>(process.own_cost_ns) * 1e-9;
        for (const model::Thread& thread : process.threads) {
            to.life_s += thread_times(thread).life_s();
            to.wall_s += static_cast<double>(thread.wall_running_ns) * wall_scale;
        }
    }

    const model::Run& run_;
    std::map<Key, uint32_t> by_pid_; // of processes that share a pid, the first
    std::vector<size_t> children_;
    std::vector<bool> short_;
};

class ProcessStarts : public Diagnosis {
  public:
    const char* id() const override { return "process-starts"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<Finding> findings;
        for (const auto& [starter, started] : Starters(input.run).started(replay.wall_scale()))
            if (started.count >= kLeastProcesses)
                if (std::optional<Finding> finding = finding_of(input, replay, starter, started))
                    findings.push_back(std::move(*finding));
        return findings;
    }

  private:
    std::optional<Finding> finding_of(const DiagnosisInput& input, const WaitReplay& replay, uint32_t starter,
                                      const Started& started) const {
        const model::Process& process = input.run.processes[starter];
        double waiting_s = 0;
        LineShares lines;
        for (const Wait& wait : replay.waits())
            if (wait.process == starter && (wait.what.kind == WaitKind::child || wait.what.kind == WaitKind::pipe)) {
                lines.add(input.paths.user_frame(starter, wait.site->path), wait.seconds);
                waiting_s += wait.wall_s;
            }
        const double share_s = std::clamp(started.wall_s + waiting_s - started.own_cost_s, 0.0, replay.wall_s());
        const double part = share_s / std::max(replay.wall_s() - started.own_cost_s, share_s); // of the run as it is without plumb
        if (share_s < kLeastWallShare * replay.wall_s())
            return std::nullopt;
        const auto most = std::ranges::max_element(started.programs, {}, [](const auto& entry) { return entry.second; });
        const double mean_s = started.life_s / static_cast<double>(started.count);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.title = fmt::format("{} starts {} processes that live {} on average, most of them {}", process.name,
                                    format_count(static_cast<double>(started.count)), format_seconds(mean_s), most->first);
        finding.cost = {share_s, part, "estimated"};
        finding.gain = {part,
                        "all time that depended on these processes, without what the starting program does in the kernel for them; the "
                        "work that they do has to be done somewhere"};
        finding.where = lines.heaviest(kMostLines);
        finding.subject.kind = "process";
        finding.subject.name = most->first;
        finding.subject.details["starting_process"] = fmt::format("{} ({})", process.name, process.pid);
        finding.evidence["process_count"] = static_cast<int64_t>(started.count);
        finding.evidence["mean_life_seconds"] = mean_s;
        finding.evidence["wall_seconds"] = started.wall_s;
        finding.evidence["awaiting_wall_seconds"] = waiting_s;
        finding.evidence["plumb_seconds"] = started.own_cost_s;
        finding.advice.push_back({"Start one process for all the work, or do it in this one",
                                  "give one process all names or all data at once, keep a helper process and send it requests, or "
                                  "call a library instead of a program",
                                  "code", ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_process_starts() { return std::make_unique<ProcessStarts>(); }

} // namespace plumb
