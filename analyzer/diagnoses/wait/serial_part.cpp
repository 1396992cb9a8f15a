// Code that one thread computes alone while its program's other threads wait for work: Amdahl's bound.
//
// That its work can be divided is not known, nor how much faster it then is on cores that share caches or memory; what it costs
// at most is. Only the time of one function that takes most of it counts for the severity.
#include "analyses/analyses.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/registry.h"
#include "diagnoses/wait/slow_stages.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kClearFunction = 0.5; // of the serial time: it can be named as the cause
constexpr double kLeastCpus = 1.2;     // for the team: fewer are no proof that more threads gain anything

class SerialPart : public Diagnosis {
  public:
    const char* id() const override { return "serial-part"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        if (input.analyses.serial_phases.empty())
            return findings;
        const std::vector<SlowStage> stages = slow_stages(input, WaitReplay(input.paths));
        for (const SerialPhases& phases : input.analyses.serial_phases)
            if (phases.most_cpus >= kLeastCpus && !phases.lines.heaviest(1).empty() && !is_stage(stages, phases))
                findings.push_back(finding_of(input, phases));
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) { return finding.cost.seconds; });
        findings.resize(std::min<size_t>(findings.size(), 1)); // ranks and copies say the same
        return findings;
    }

  private:
    // It works beside the others, and they wait for each of its items: no phase that could be divided among them.
    static bool is_stage(const std::vector<SlowStage>& stages, const SerialPhases& phases) {
        return std::ranges::any_of(stages, [&](const SlowStage& stage) {
            return std::ranges::any_of(stage.members, [&](const Task& task) {
                return task.process == phases.process && task.thread == phases.thread;
            });
        });
    }

    Finding finding_of(const DiagnosisInput& input, const SerialPhases& phases) const {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        const double divided = 1 - 1 / phases.most_cpus, share = std::min(1.0, phases.serial_s / run_s);
        const auto most = std::ranges::max_element(phases.functions, {}, [](const auto& entry) { return entry.second; });
        const bool is_clear = most != phases.functions.end() && most->second >= kClearFunction * phases.serial_s;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        finding.title = fmt::format("{} computes on one thread for {:.0f} % of the run while a team of {:.0f} waits",
                                    is_clear ? most->first : "The program", 100 * (is_clear ? most->second / run_s : share),
                                    phases.team);
        finding.cost = {phases.serial_s * divided, share * divided, "bound"};
        const double named_s = is_clear ? std::max(0.0, std::min(most->second, phases.serial_s) - phases.doubtful_s) : 0;
        finding.gain = {share * divided,
                        "at most, by Amdahl's law: the serial time divided among as many CPUs as the team can use, if its work can "
                        "be divided",
                        std::nullopt, true};
        finding.gain.likely = std::min(1.0, named_s * (1 - 1 / phases.cpus) / run_s); // among those that it had
        finding.where = phases.lines.heaviest(kMostLines);
        finding.subject.kind = "thread";
        finding.subject.name = task_name(input.run, {phases.process, phases.thread});
        finding.subject.details["process"] = input.run.processes[phases.process].name;
        finding.evidence["serial_seconds"] = phases.serial_s;
        finding.evidence["parallel_seconds"] = phases.parallel_s;
        finding.evidence["parallel_cpus_in_use"] = phases.cpus;
        finding.evidence["parallel_cpus_usable"] = phases.most_cpus;
        finding.evidence["parallel_threads"] = phases.team;
        finding.evidence["most_speedup_by_more_threads"] = run_s / phases.serial_s;
        finding.evidence["sample_count"] = static_cast<int64_t>(phases.samples);
        finding.advice.push_back({"Let the other threads work meanwhile",
                                  "divide what this function does among the threads of the team; where its order matters, let it "
                                  "run beside the team's next work, or in smaller pieces that the team can begin with",
                                  "code", ""});
        note_unplaced(phases.lines, input.run, finding);
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_serial_part() { return std::make_unique<SerialPart>(); }

} // namespace plumb
