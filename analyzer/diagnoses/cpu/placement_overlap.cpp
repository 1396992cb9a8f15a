// Masks that force threads onto one another although the run has CPUs to spare. It names the cause; what the
// overlap cost is cpu-oversubscribed's to tell, so that one cause does not count twice: this one is always info.
#include "analyses/lines/launch_command.h"
#include "diagnoses/common/schedule.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastDemand = 0.05;  // of the run: threads that hardly ever run may share
constexpr double kLeastIdle = 0.5;     // of a CPU outside the mask, for it to be called free

class PlacementOverlap : public Diagnosis {
  public:
    const char* id() const override { return "placement-overlap"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const auto& [host, schedule] : schedules_of(input.run)) {
            const model::CpuSet idle = idle_cpus(schedule);
            for (const auto& [mask, tasks] : by_mask(input.run, schedule)) {
                model::CpuSet spare;
                std::set_difference(idle.begin(), idle.end(), mask.begin(), mask.end(), std::back_inserter(spare));
                if (tasks.size() > mask.size() && !spare.empty() && overlap(schedule, tasks))
                    findings.push_back(finding_of(input, schedule, mask, tasks, spare));
            }
        }
        return findings;
    }

  private:
    static model::CpuSet idle_cpus(const Schedule& schedule) {
        std::map<int, double> idle_s;
        for (const Slot& slot : schedule.slots)
            for (const CpuLoad& cpu : slot.cpus)
                idle_s[cpu.cpu] += cpu.idle_s;
        model::CpuSet idle;
        for (const auto& [cpu, seconds] : idle_s)
            if (seconds >= kLeastIdle * schedule.length_s())
                idle.push_back(cpu);
        return idle;
    }

    // Threads that wanted a CPU for a good part of the run, by what confines them.
    static std::map<model::CpuSet, std::vector<Task>> by_mask(const model::Run& run, const Schedule& schedule) {
        std::map<model::CpuSet, std::vector<Task>> groups;
        for (const Task& task : schedule.tasks)
            if (task.narrowed && task.run_s + task.delay_s >= kLeastDemand * schedule.length_s())
                groups[run.processes[task.process].threads[task.thread].allowed_cpus].push_back(task);
        return groups;
    }

    // Threads that ran one after the other do not meet.
    static bool overlap(const Schedule& schedule, const std::vector<Task>& tasks) {
        std::set<std::pair<size_t, size_t>> members;
        for (const Task& task : tasks)
            members.insert({task.process, task.thread});
        double together_s = 0;
        for (const Slot& slot : schedule.slots) {
            size_t active = 0;
            for (const Activity& activity : slot.activities) {
                const Task& task = schedule.tasks[activity.task];
                active += activity.active_s() >= kLeastDemand * slot.length_s &&
                          members.count({task.process, task.thread});
            }
            together_s += active > 1 ? slot.length_s : 0;
        }
        return together_s >= kLeastDemand * schedule.length_s();
    }

    Finding finding_of(const DiagnosisInput& input, const Schedule& schedule, const model::CpuSet& mask,
                       const std::vector<Task>& tasks, const model::CpuSet& spare) const {
        Finding finding;
        finding.id = id();
        finding.fixed_severity = Severity::info;
        finding.confidence = 0.95;
        const std::string whom = count_of(tasks);
        finding.title = fmt::format("{} may only use {} while {} {} free", whom, cpu_names(mask), cpu_names(spare),
                                    spare.size() == 1 ? "is" : "are");
        finding.cost.how = "measured";
        finding.gain = {0, "cpu-oversubscribed reports the cost, if there is one"};
        finding.where = lines_of(input.paths, tasks).heaviest(5);
        finding.subject.kind = "cpu";
        finding.subject.name = fmt::format("{}", mask.front());
        std::vector<std::string> names;
        bool by_plumb = false;
        double run_s = 0, delay_s = 0;
        for (const Task& task : tasks) {
            by_plumb = by_plumb || input.run.processes[task.process].threads[task.thread].placement.has_value();
            if (names.size() < 64)
                names.push_back(task_name(input.run, task));
            run_s += task.run_s;
            delay_s += task.delay_s;
        }
        finding.subject.details["threads"] = names;
        finding.subject.details["pinned_by_plumb"] = by_plumb;
        finding.subject.details["cost_is_in"] = std::string("cpu-oversubscribed");
        finding.evidence["thread_count"] = static_cast<int64_t>(tasks.size());
        finding.evidence["mask_cpu_count"] = static_cast<int64_t>(mask.size());
        finding.evidence["free_cpu_count"] = static_cast<int64_t>(spare.size());
        finding.evidence["run_seconds"] = run_s;
        finding.evidence["waiting_seconds"] = delay_s;
        finding.evidence["watched_seconds"] = schedule.length_s();
        finding.advice.push_back({"Give each its own CPU",
            by_plumb ? "the list of --pin names a CPU more than once, or has fewer CPUs than there are threads"
                     : "the usual cause is two launchers or libraries that both count CPUs from zero; let one of them place "
                       "all threads",
            "launch", plumb_run_line(input.run, "--pin=scatter")});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_placement_overlap() { return std::make_unique<PlacementOverlap>(); }

} // namespace plumb
