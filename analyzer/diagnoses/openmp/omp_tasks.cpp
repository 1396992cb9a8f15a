// Parallel regions with tasks, in which threads of the team have none to do: the last ones are long, or one thread makes them
// too slowly.
//
// The shim knows how long these regions last, and that their threads carry out tasks wherever they wait. What a thread does
// there is seen by samples and by looks at blocked threads, of which none say in which region it was. But a worker of a team
// works in regions alone: what it worked beyond its work in regions without tasks, it did in those with tasks. The thread that
// starts regions waits in the runtime only inside of them. Waiting in a taskwait is left out: it depends on tasks that the same
// thread made. Tasks may be indivisible, or depend on one another: no gain is certain.
#include "analyses/time/openmp_call.h"
#include "analyses/time/thread_times.h"
#include "analyses/time/wait_class.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace plumb {

namespace {

constexpr double kLeastIdleShare = 0.02;   // of the run
constexpr double kMuchMaking = 0.05;       // of the team's time in these regions: the tasks are too small instead
constexpr uint64_t kLeastTeamSamples = 30;
// Of the mean work of a thread: so much is lost where of two tasks that nobody can divide one is a sixth longer than the other.
constexpr double kIndivisible = 0.08;

struct TaskTeam {
    RegionPlace longest;
    double regions_s = 0;          // wall time of its regions with tasks
    double idle_s = 0, work_s = 0; // thread seconds in them
    double making_s = 0;
    double error_s = 0; // of idle_s, from counting samples
    uint32_t threads = 0;
    uint64_t regions = 0, samples = 0;
};

// Of one thread, by its samples and looks.
struct TeamThread {
    double all_ns = 0, waiting_ns = 0, making_ns = 0, looked_ns = 0, at_barrier_ns = 0;
    uint64_t samples = 0, waiting = 0;
    double known_work_s = 0, known_wait_s = 0; // in regions without tasks
    bool is_worker = false;
};

// Nothing where it is not known which threads make up the team: nested regions, several threads that start some, or threads that
// were replaced.
std::optional<TaskTeam> team_of(const model::Process& process, uint32_t index, std::vector<TeamThread>& threads) {
    TaskTeam team;
    std::optional<uint32_t> master;
    for (const model::OmpRegion& region : process.openmp->regions) {
        if (region.nested || region.masters.size() != 1 || master.value_or(region.masters[0]) != region.masters[0])
            return std::nullopt;
        master = region.masters[0];
        for (const model::OmpPart& part : region.parts)
            if (part.thread < threads.size()) {
                threads[part.thread].known_work_s += static_cast<double>(part.work_ns) * 1e-9;
                threads[part.thread].known_wait_s += static_cast<double>(part.end_wait_ns + part.wait_ns) * 1e-9;
                threads[part.thread].is_worker = part.thread != *master;
            }
        if (!region.has_tasks)
            continue;
        team.regions += region.ended;
        team.regions_s += static_cast<double>(region.wall_ns - std::min(region.wall_ns, region.compared_ns)) * 1e-9;
        team.threads = std::max(team.threads, region.most_threads);
        if (!team.longest.region || region.wall_ns > team.longest.region->wall_ns)
            team.longest = {index, &region};
    }
    const auto workers = std::ranges::count(threads, true, &TeamThread::is_worker);
    if (!master || *master >= threads.size() || team.threads < 2 || workers != static_cast<ptrdiff_t>(team.threads) - 1)
        return std::nullopt;
    return team;
}

void add_evidence(model::CallPaths& paths, uint32_t index, std::vector<TeamThread>& threads) {
    const model::Process& process = paths.run().processes[index];
    for (const model::SampleSite& site : process.samples) {
        if (site.thread >= threads.size())
            continue;
        TeamThread& thread = threads[site.thread];
        const double time_ns = static_cast<double>(site.time_ns);
        const OpenMpCall call = openmp_call_of(paths, index, site.path);
        const bool waits = call == OpenMpCall::other; // in a taskwait it may take tasks up: samples cannot separate the two
        thread.all_ns += time_ns;
        thread.samples += site.samples;
        thread.waiting_ns += waits ? time_ns : 0;
        thread.waiting += waits ? site.samples : 0;
        thread.making_ns += call == OpenMpCall::making_tasks ? time_ns : 0;
    }
    for (const model::BlockedSite& site : process.blocked)
        if (site.thread < threads.size()) {
            threads[site.thread].looked_ns += static_cast<double>(site.time_ns);
            if (wait_class_of(paths, index, site).kind == WaitKind::barrier)
                threads[site.thread].at_barrier_ns += static_cast<double>(site.time_ns);
        }
}

void add_thread(const model::Thread& thread, const TeamThread& parts, TaskTeam& team) {
    const ThreadTimes times = thread_times(thread);
    const auto of_run = [&](double ns) { return parts.all_ns > 0 ? times.run_s * ns / parts.all_ns : 0; };
    const double at_barrier_s = parts.looked_ns > 0 ? times.blocked_s * parts.at_barrier_ns / parts.looked_ns : 0;
    const double waiting_s = of_run(parts.waiting_ns) + at_barrier_s;
    double idle_s = waiting_s - parts.known_wait_s;
    if (parts.is_worker) // it waits between regions as well
        idle_s = team.regions_s - (times.life_s() - waiting_s - parts.known_work_s);
    idle_s = std::clamp(idle_s, 0.0, team.regions_s);
    team.idle_s += idle_s;
    team.work_s += team.regions_s - idle_s;
    team.making_s += of_run(parts.making_ns);
    team.samples += parts.samples;
    team.error_s += times.run_s * share_error(parts.waiting, parts.samples);
}

std::optional<TaskTeam> task_team_of(model::CallPaths& paths, uint32_t index) {
    const model::Process& process = paths.run().processes[index];
    if (!process.openmp || std::ranges::none_of(process.openmp->regions, &model::OmpRegion::has_tasks))
        return std::nullopt;
    std::vector<TeamThread> threads(process.threads.size());
    std::optional<TaskTeam> team = team_of(process, index, threads);
    if (!team)
        return std::nullopt;
    add_evidence(paths, index, threads);
    const uint32_t master = team->longest.region->masters[0];
    for (uint32_t thread = 0; thread < threads.size(); ++thread)
        if (thread == master || threads[thread].is_worker)
            add_thread(process.threads[thread], threads[thread], *team);
    return team;
}

class OmpTasks : public Diagnosis {
  public:
    const char* id() const override { return "omp-tasks"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        std::vector<Finding> findings;
        for (uint32_t process = 0; process < input.run.processes.size(); ++process)
            if (const auto team = task_team_of(input.paths, process); team && is_clear(*team, run_s))
                findings.push_back(finding_of(input, *team, run_s));
        std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) { return finding.cost.seconds; });
        findings.resize(std::min<size_t>(findings.size(), 1)); // ranks and copies say the same
        return findings;
    }

  private:
    static bool is_clear(const TaskTeam& team, double run_s) {
        return run_s > 0 && team.samples >= kLeastTeamSamples && team.idle_s > 2 * team.error_s &&
               team.idle_s / team.threads >= kLeastIdleShare * run_s && team.making_s < kMuchMaking * (team.idle_s + team.work_s);
    }

    Finding finding_of(const DiagnosisInput& input, const TaskTeam& team, double run_s) const {
        const double lost_s = team.idle_s / team.threads, mean_s = team.work_s / team.threads;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.8;
        describe_region(input.paths, team.longest, finding);
        finding.title = fmt::format("{} threads have no task to do for {:.0f} % of the time of parallel regions with tasks", team.threads,
                                    100 * team.idle_s / (team.idle_s + team.work_s));
        finding.cost = {lost_s, std::min(1.0, lost_s / run_s), "estimated"};
        finding.gain.fraction = finding.cost.fraction;
        finding.gain.how = "at most, with equal work for all threads of the team, if tasks can be divided or begun earlier";
        finding.gain.is_at_most = true;
        finding.gain.likely = std::max(0.0, lost_s - kIndivisible * mean_s) / run_s;
        finding.evidence["without_task_thread_seconds"] = team.idle_s;
        finding.evidence["sampling_error_thread_seconds"] = team.error_s;
        finding.evidence["work_thread_seconds"] = team.work_s;
        finding.evidence["regions_with_tasks_count"] = static_cast<int64_t>(team.regions);
        finding.evidence["regions_with_tasks_seconds"] = team.regions_s;
        finding.advice.push_back({"Let the tasks end together",
                                  "make the longest tasks first, or divide them: a long task that begins last keeps the others waiting",
                                  "code", ""});
        finding.advice.push_back({"Make tasks earlier, and by several threads",
                                  "if one thread computes between making them, the others wait for it: make tasks of that, too, or let "
                                  "a taskloop make them",
                                  "code", "#pragma omp taskloop"});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_tasks() { return std::make_unique<OmpTasks>(); }

} // namespace plumb
