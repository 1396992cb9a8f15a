// A pipeline of threads or processes of which one stage is slower than the others: they wait for it at a queue or a pipe.
//
// Whether the work of that stage can be made less, or divided, was not seen: what the run would take if the stage were no slower than
// the next slowest is a bound. Making it less gains more than dividing it where CPUs are few.
#include "analyses/lines/line_shares.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/slow_stages.h"
#include "diagnoses/wait/wait_replay.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostStages = 2;

class SlowStages : public Diagnosis {
  public:
    const char* id() const override { return "slow-stage"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const WaitReplay replay(input.paths);
        std::vector<Finding> findings;
        for (const SlowStage& stage : slow_stages(input, replay))
            if (findings.size() < kMostStages && is_known_well(stage.looks, stage.saved_s / replay.wall_s()))
                findings.push_back(finding_of(input, replay, stage));
        return findings;
    }

  private:
    static std::string name_of(const model::Run& run, const Task& task, bool as_process) {
        const model::Process& process = run.processes[task.process];
        return as_process ? fmt::format("{} ({})", process.name, process.pid) : task_name(run, task);
    }

    static std::string names_of(const model::Run& run, const std::vector<Task>& tasks, bool as_process) {
        return tasks.size() == 1 ? name_of(run, tasks[0], as_process) : fmt::format("{} threads", tasks.size());
    }

    // What it does instead of computing, if that takes most of its time.
    static std::string blocked_in(const WaitReplay& replay, const SlowStage& stage) {
        const Wait* longest = nullptr;
        for (const Wait& wait : replay.waits())
            for (const Task& task : stage.members)
                if (wait.process == task.process && wait.site->thread == task.thread && !is_for_others(wait.what.kind) &&
                    (!longest || wait.seconds > longest->seconds))
                    longest = &wait;
        return longest && stage.device_s > stage.own_s / 2 ? longest->what.what : std::string();
    }

    Finding finding_of(const DiagnosisInput& input, const WaitReplay& replay, const SlowStage& stage) const {
        const double wall_s = replay.wall_s();
        const bool many = stage.members.size() > 1;
        const std::string who = names_of(input.run, stage.members, stage.other_process);
        const LineShares lines = lines_of(input.paths, stage.members);
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.cost = {stage.saved_s, stage.saved_s / wall_s, "estimated"};
        finding.where = lines.heaviest(kMostLines);
        const std::string place = finding.where.empty() ? std::string() : ", at " + place_name(finding.where[0]);
        finding.title = fmt::format("{} {} the slow stage of a pipeline: {} {} for {} in {:.0f} % of the run{}", who, many ? "are" : "is",
                                    names_of(input.run, stage.waiters, stage.other_process), stage.waiters.size() > 1 ? "wait" : "waits",
                                    many ? "them" : "it", 100 * std::min(1.0, stage.waiting_s / wall_s), place);
        finding.gain = {stage.saved_by_less_s / wall_s,
                        fmt::format("if the stage did so much less for each item that it took no longer than the next slowest one; "
                                    "about {:.0f} % if its work is divided among the CPUs instead. That either can be done was not seen",
                                    100 * stage.saved_s / wall_s)};
        finding.gain.is_at_most = true;
        finding.gain.likely = stage.is_fed ? stage.saved_s / wall_s : 0;
        finding.subject.kind = stage.other_process ? "process" : "thread";
        finding.subject.name = name_of(input.run, stage.members[0], stage.other_process);
        finding.subject.details["process"] = input.run.processes[stage.members[0].process].name;
        finding.subject.details["waiting"] = name_of(input.run, stage.waiters[0], stage.other_process);
        finding.evidence["waiting_seconds"] = stage.waiting_s;
        finding.evidence["waiting_thread_count"] = static_cast<int64_t>(stage.waiters.size());
        finding.evidence["slow_stage_thread_count"] = static_cast<int64_t>(stage.members.size());
        finding.evidence["slow_stage_work_seconds"] = stage.own_s;
        finding.evidence["next_stage_work_seconds"] = stage.next_s;
        finding.evidence["wall_of_slow_stage_seconds"] = std::min(wall_s, stage.wall_s);
        finding.evidence["look_count"] = static_cast<int64_t>(stage.looks);
        const std::string blocked = blocked_in(replay, stage);
        finding.evidence["slow_stage_is"] = blocked.empty() ? std::string("computing") : "blocked in " + blocked;
        std::vector<std::string> at;
        for (const Location& location : stage.waiting_at.heaviest(kMostLines))
            at.push_back(place_name(location));
        finding.evidence["waiting_at"] = at;
        finding.advice.push_back({stage.other_process ? "Let several processes or threads do this stage" : "Let several threads do this stage",
                                  "each takes the next item when it is done with one; number the items where their order matters. Or make "
                                  "it do less for each item, or move a part of its work to a stage that waits. A longer queue does not help",
                                  "code", ""});
        note_unplaced(lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_slow_stage() { return std::make_unique<SlowStages>(); }

} // namespace plumb
