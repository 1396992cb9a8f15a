// Threads that wait for a CPU which others sit on. What that costs comes from replaying the run (placement_replay.h):
//   stacked  CPUs that the run may use had room meanwhile; a better placement would have spared the waiting
//   shared   no CPU had room because programs outside the run took their part
//   crowded  no CPU had room because the run has more runnable threads than CPUs: not a loss by itself (info)
// The three parts do not overlap: each is what is left when the ones before it are cured.
#include "analyses/lines/launch_command.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/task_names.h"
#include "diagnoses/cpu/placement_replay.h"
#include "diagnoses/common/noise_makers.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastCost_s = 0.05;     // a few clock ticks
constexpr double kLeastFraction = 0.02;   // of the run
constexpr double kLeastShare = 0.05;      // of the waiting that a thread must have to be named
constexpr double kPatience = 3;           // times the least cost, where threads were free to move or others are to blame
constexpr double kMuchWork = 0.1;         // of the longest-running thread's CPU time: then a thread fills a CPU's share
constexpr double kRoom = 0.2;             // of the watched time idle: then a CPU has room
constexpr double kCrowdedDemand = 1.25;   // runnable threads a CPU
constexpr double kCrowdedFraction = 0.25; // of the run in which that must hold

// The waiting that one scenario spares, by task and by the CPU it was waited for.
struct Waits {
    std::vector<double> by_task_s;
    std::map<int, double> by_cpu_s;
    double total_s = 0, narrowed_s = 0;
    double idle_s = 0;   // idle time of allowed CPUs in the same slots
    double others_s = 0; // time that others took on the CPUs that were waited for, in the same slots
};

Waits waits_of(const Schedule& schedule, const ReplayConditions* conditions, const ReplayConditions* without) {
    Waits waits;
    waits.by_task_s.resize(schedule.tasks.size());
    for (const Slot& slot : schedule.slots) {
        std::vector<double> spared;
        if (conditions)
            spared = spared_delay(schedule, slot, *conditions);
        const std::vector<double> cured = without ? spared_delay(schedule, slot, *without) : std::vector<double>();
        bool waited = false;
        std::map<int, bool> cpus;
        for (size_t i = 0; i < slot.activities.size(); i++) {
            const Activity& activity = slot.activities[i];
            const double wait_s = (conditions ? spared[i] : activity.delay_s) - (without ? cured[i] : 0);
            if (wait_s <= 0)
                continue;
            // The spared part tells who is concerned; how long they waited is their whole delay.
            waits.by_task_s[activity.task] += activity.delay_s;
            waits.by_cpu_s[activity.cpu] += activity.delay_s;
            waits.total_s += activity.delay_s;
            waits.narrowed_s += schedule.tasks[activity.task].narrowed ? activity.delay_s : 0;
            waited = cpus[activity.cpu] = true;
        }
        for (const CpuLoad& cpu : slot.cpus) {
            waits.idle_s += waited ? cpu.idle_s : 0;
            waits.others_s += cpus.count(cpu.cpu) ? cpu.others_s : 0;
        }
    }
    return waits;
}

// plumb itself put them where they were: another placement is not the cure then.
bool are_placed(const model::Run& run, const std::vector<Task>& tasks) {
    return !tasks.empty() && std::all_of(tasks.begin(), tasks.end(), [&](const Task& task) {
        const auto& placement = run.processes[task.process].threads[task.thread].placement;
        return placement && placement->cpu >= 0;
    });
}

// plumb gave every allowed CPU as many of the threads with much work as any other, give or take one.
bool are_dealt_evenly(const model::Run& run, const model::Host& host, const Schedule& schedule) {
    double most_s = 0;
    for (const Task& task : schedule.tasks)
        most_s = std::max(most_s, task.run_s);
    std::map<int, size_t> threads;
    for (int cpu : host.allowed_cpus)
        threads[cpu] = 0;
    for (const Task& task : schedule.tasks) {
        if (task.run_s < kMuchWork * most_s)
            continue;
        const auto& placement = run.processes[task.process].threads[task.thread].placement;
        if (!placement || placement->cpu < 0)
            return false;
        threads[placement->cpu]++;
    }
    const auto [least, most] = std::minmax_element(
        threads.begin(), threads.end(), [](const auto& left, const auto& right) { return left.second < right.second; });
    return least != threads.end() && most->second - least->second <= 1;
}

// On the CPUs that were waited for, others took most of what the waiting amounts to.
bool is_by_others(const Waits& waits) { return waits.others_s > 0.5 * waits.total_s; }

int most_waited_for(const Waits& waits) {
    const auto by_wait = [](const auto& left, const auto& right) { return left.second < right.second; };
    return std::max_element(waits.by_cpu_s.begin(), waits.by_cpu_s.end(), by_wait)->first;
}

// CPUs with a good part of the waiting, by number.
model::CpuSet cpus_of(const Waits& waits) {
    model::CpuSet cpus;
    for (const auto& [cpu, wait_s] : waits.by_cpu_s)
        if (wait_s >= kLeastShare * waits.total_s)
            cpus.push_back(cpu);
    return cpus;
}

std::vector<Task> waiting_tasks(const Schedule& schedule, const Waits& waits) {
    double most_s = 0;
    for (double wait_s : waits.by_task_s)
        most_s = std::max(most_s, wait_s);
    std::vector<Task> tasks;
    for (size_t task = 0; task < schedule.tasks.size(); task++)
        if (waits.by_task_s[task] >= kLeastShare * most_s && most_s > 0)
            tasks.push_back(schedule.tasks[task]);
    return tasks;
}

// Most of the waiting is by threads that someone confined, some of them to CPUs of each other. Ranks that are pinned one by one, as
// launchers do, wait for nobody that is pinned: what is in their way can move.
bool are_pinned_together(const model::Run& run, const Schedule& schedule, const Waits& waits) {
    if (waits.narrowed_s <= 0.5 * waits.total_s)
        return false;
    const auto mask_of = [&](const Task& task) -> const model::CpuSet& {
        return run.processes[task.process].threads[task.thread].allowed_cpus;
    };
    for (const Task& waiting : waiting_tasks(schedule, waits))
        for (const Task& other : schedule.tasks) {
            const bool same = waiting.process == other.process && waiting.thread == other.thread;
            if (same || !waiting.narrowed || !other.narrowed || other.run_s < kMuchWork * waiting.run_s)
                continue;
            model::CpuSet common;
            std::ranges::set_intersection(mask_of(waiting), mask_of(other), std::back_inserter(common));
            if (!common.empty())
                return true;
        }
    return false;
}

// Programs outside the run that used CPU time and do not leave it to the run, by how much; "" when none was seen.
std::string other_programs(const model::Host& host, size_t limit) {
    std::map<std::string, uint64_t> by_name;
    uint64_t most = 0;
    for (const model::OtherProcess& other : host.others)
        if (!other.leaves_cpus)
            most = std::max(most, by_name[other.name] += other.cpu_ns);
    std::vector<std::pair<uint64_t, std::string>> order;
    for (const auto& [name, cpu_ns] : by_name)
        if (cpu_ns * 10 >= most && cpu_ns > 0)
            order.emplace_back(cpu_ns, name);
    std::sort(order.rbegin(), order.rend());
    std::string text;
    for (size_t i = 0; i < order.size() && i < limit; i++)
        text += fmt::format("{}{} ({:.1f} s)", i ? ", " : "", order[i].second,
                            static_cast<double>(order[i].first) * 1e-9);
    return text;
}

double other_programs_s(const model::Host& host) {
    double sum_s = 0;
    for (const model::OtherProcess& other : host.others)
        sum_s += other.leaves_cpus ? 0 : static_cast<double>(other.cpu_ns) * 1e-9;
    return sum_s;
}

class CpuOversubscribed : public Diagnosis {
  public:
    const char* id() const override { return "cpu-oversubscribed"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Finding> findings;
        for (const auto& [watched, schedule] : schedules_of(input.run)) {
            const model::Host& host = *watched;
            const double explained = explained_by_others(schedule, host);
            const ReplayConditions spread{false, explained}, alone{true, 0};
            const double alone_s = replayed_seconds(schedule, alone);
            const double spread_s = replayed_seconds(schedule, spread);
            const double stacked_s = schedule.length_s() - spread_s;
            const double shared_s = (spread_s - alone_s) * explained;
            const Waits waits = waits_of(schedule, &spread, nullptr);
            // The scheduler may leave free threads where they are for a moment: that takes more to be called a fault.
            const bool misplaced = are_pinned_together(input.run, schedule, waits) && !is_by_others(waits) &&
                                   !are_placed(input.run, waiting_tasks(schedule, waits));
            const double patience = misplaced ? 1 : kPatience;
            const bool is_stacked = counts(input.run, stacked_s / patience);
            if (is_stacked) {
                const bool even = !is_by_others(waits) && are_dealt_evenly(input.run, host, schedule);
                findings.push_back(even ? uneven_end(input, schedule, waits, stacked_s)
                                        : stacked(input, host, schedule, waits, stacked_s));
            }
            // What ranks lose to programs that take their CPUs now and then is reported by os-noise. All ranks wait for one that shares
            // its CPU: that is more than its own waiting. What a better placement spares is in the finding above, and time that no
            // program is known to have used is nobody's.
            const double waited_for_s = explained > 0 ? sharing_seconds(input.run, host) - (is_stacked ? stacked_s : 0) : 0;
            const Waits shared_waits = waits_of(schedule, &alone, &spread);
            if (counts(input.run, std::max(shared_s - noise_seconds(input.run), waited_for_s)) && !shared_waits.by_cpu_s.empty())
                findings.push_back(
                    shared(input, host, schedule, shared_waits, std::max(shared_s, waited_for_s), waited_for_s > shared_s));
            else if (findings.empty() && crowded_fraction(schedule) >= kCrowdedFraction)
                findings.push_back(crowded(input, schedule));
        }
        return findings;
    }

  private:
    static bool counts(const model::Run& run, double cost_s) {
        return cost_s >= kLeastCost_s && cost_s >= kLeastFraction * static_cast<double>(run.wall_ns()) * 1e-9;
    }

    // Processes of the run that came and went between two looks of the recorder look like somebody else's time. Only
    // the part that programs outside the run are known to have used is theirs. The part of those that leave CPUs to the
    // run was room.
    static double explained_by_others(const Schedule& schedule, const model::Host& host) {
        double others_s = 0;
        for (const Slot& slot : schedule.slots)
            for (const CpuLoad& cpu : slot.cpus)
                others_s += cpu.others_s;
        return others_s > 0 ? std::min(1.0, other_programs_s(host) / others_s) : 0;
    }

    // Part of the run in which clearly more threads were runnable than there are CPUs.
    static double crowded_fraction(const Schedule& schedule) {
        double crowded_s = 0;
        for (const Slot& slot : schedule.slots) {
            double active_s = 0;
            for (const Activity& activity : slot.activities)
                active_s += activity.active_s();
            const double capacity_s = slot.length_s * static_cast<double>(slot.cpus.size());
            crowded_s += active_s > kCrowdedDemand * capacity_s ? slot.length_s : 0;
        }
        return crowded_s / schedule.length_s();
    }

    Finding base(const DiagnosisInput& input, const Schedule& schedule, const Waits& waits, double cost_s) const {
        const double wall_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        const std::vector<Task> tasks = waiting_tasks(schedule, waits);
        Finding finding;
        finding.id = id();
        finding.cost = {cost_s, cost_s / wall_s, "estimated"};
        finding.where = lines_of(input.paths, tasks).heaviest(5);
        finding.subject.kind = "cpu";
        finding.subject.name = fmt::format("{}", most_waited_for(waits));
        std::vector<std::string> names;
        double run_s = 0, delay_s = 0;
        for (const Task& task : tasks) {
            if (names.size() < 64)
                names.push_back(task_name(input.run, task));
            run_s += task.run_s;
            delay_s += task.delay_s;
        }
        finding.subject.details["threads"] = names;
        std::vector<int64_t> cpus;
        for (int cpu : cpus_of(waits))
            cpus.push_back(cpu);
        finding.subject.details["cpus"] = cpus;
        finding.evidence["thread_count"] = static_cast<int64_t>(tasks.size());
        finding.evidence["waiting_seconds"] = waits.total_s;
        finding.evidence["waiting_fraction"] = run_s + delay_s > 0 ? delay_s / (run_s + delay_s) : 0.0;
        finding.evidence["idle_cpu_seconds"] = waits.idle_s;
        finding.evidence["others_cpu_seconds"] = waits.others_s;
        finding.evidence["allowed_cpu_count"] = static_cast<int64_t>(schedule.slots.front().cpus.size());
        finding.evidence["pinned_waiting_fraction"] = waits.total_s > 0 ? waits.narrowed_s / waits.total_s : 0.0;
        return finding;
    }

    // Few slots, or waiting just above what wake-ups cause, make it less sure.
    static double confidence(const Schedule& schedule, bool pinned) {
        const double length = std::min(1.0, static_cast<double>(schedule.slots.size()) / 8);
        return (pinned ? 0.95 : 0.8) * (0.5 + 0.5 * length);
    }

    // What is outside the CPUs that were waited for.
    static std::string alternative(const model::Host& host, const Schedule& schedule, const model::CpuSet& taken,
                                   bool pinned) {
        model::CpuSet spare, room;
        std::map<int, double> idle_s;
        for (const Slot& slot : schedule.slots)
            for (const CpuLoad& cpu : slot.cpus)
                idle_s[cpu.cpu] += cpu.idle_s;
        for (int cpu : host.allowed_cpus) {
            if (std::binary_search(taken.begin(), taken.end(), cpu))
                continue;
            spare.push_back(cpu);
            if (idle_s[cpu] >= kRoom * schedule.length_s())
                room.push_back(cpu);
        }
        if (spare.empty())
            return "another of them is idle at times";
        if (room.empty())
            return fmt::format("none of them {} {}", pinned ? "may use" : "got", cpu_names(spare));
        return fmt::format("{} {} room", cpu_names(room), room.size() == 1 ? "has" : "have");
    }

    Finding stacked(const DiagnosisInput& input, const model::Host& host, const Schedule& schedule,
                    const Waits& waits, double cost_s) const {
        Finding finding = base(input, schedule, waits, cost_s);
        const std::vector<Task> tasks = waiting_tasks(schedule, waits);
        const bool pinned = are_pinned_together(input.run, schedule, waits);
        const bool by_others = is_by_others(waits);
        const model::CpuSet taken = cpus_of(waits);
        const std::string room = alternative(host, schedule, taken, pinned);
        const bool placed = are_placed(input.run, tasks);
        finding.confidence = confidence(schedule, pinned);
        finding.title = by_others
            ? fmt::format("{} of this run wait{} behind other programs on {} while {}", count_of(tasks),
                          tasks.size() == 1 ? "s" : "", cpu_names(taken), room)
            : fmt::format("{} {} {}{} while {}", count_of(tasks),
                          pinned ? "are pinned so that they share" : "share", cpu_names(taken),
                          tasks.size() == 1 ? " with the rest of the run" : "", room);
        finding.gain = {finding.cost.fraction,
                        "estimated by replaying the run with the waiting threads spread over all CPUs that it may use"};
        if (by_others)
            finding.subject.details["other_programs"] = other_programs(host, 3);
        if (placed) {
            finding.advice.push_back({"Let the scheduler move the threads, or keep other programs away",
                "threads that plumb pinned cannot move when another program takes their CPU: on a shared machine run without "
                "--pin, or confine the other programs to CPUs that this run does not use",
                "launch", ""});
            return finding;
        }
        finding.advice.push_back({"Start the run spread over its CPUs",
            "plumb pins each thread to its own CPU before two share one, and fills packages, NUMA nodes and cores evenly",
            "launch", plumb_run_line(input.run, "--pin=scatter")});
        if (pinned)
            finding.advice.push_back({"Remove the CPU mask of these threads",
                "it excludes CPUs that the run may use: look for taskset, numactl, a launcher's binding option, OMP_PLACES or "
                "GOMP_CPU_AFFINITY, or a call of sched_setaffinity in the program",
                "launch", ""});
        return finding;
    }

    // No other placement would have shared the CPUs better; pinned threads cannot make up for what differs between
    // the CPUs or between their own work. Reported, as it costs time; nobody's launch is to blame for it: info.
    Finding uneven_end(const DiagnosisInput& input, const Schedule& schedule, const Waits& waits, double cost_s) const {
        Finding finding = base(input, schedule, waits, cost_s);
        finding.fixed_severity = Severity::info;
        finding.confidence = confidence(schedule, true);
        finding.title = fmt::format("The same number of threads is pinned to each CPU, but they do not end together: {} wait "
                                    "for {} while another CPU has no work left",
                                    count_of(waiting_tasks(schedule, waits)), cpu_names(cpus_of(waits)));
        finding.gain = {finding.cost.fraction, "estimated by replaying the run with threads that move to a CPU without work"};
        finding.advice.push_back({"Let the scheduler move the threads, or give them equal work",
            "the CPUs were not equally fast (shared cores, other virtual machines), or the threads had unequal work: pinned "
            "threads cannot move to a CPU without work; run without --pin to compare", "launch", ""});
        return finding;
    }

    Finding shared(const DiagnosisInput& input, const model::Host& host, const Schedule& schedule, const Waits& waits,
                   double cost_s, bool ranks_wait) const {
        Finding finding = base(input, schedule, waits, cost_s);
        const std::string programs = other_programs(host, 3);
        finding.confidence = 0.9 * confidence(schedule, true);
        finding.title = fmt::format("Other programs take CPU time that this run waits for: {}", programs);
        finding.gain = {finding.cost.fraction,
                        ranks_wait ? "estimated by replaying the collectives of all ranks without the intervals in which other programs had "
                                     "the CPU of a rank"
                                   : "estimated by replaying the run without other programs on its CPUs"};
        finding.subject.details["other_programs"] = programs;
        finding.advice.push_back({"Give the run CPUs of its own",
            "run it when the machine is idle, or confine the other programs (a cpuset, systemd's AllowedCPUs, taskset) to CPUs "
            "that this run does not use", "system", ""});
        return finding;
    }

    Finding crowded(const DiagnosisInput& input, const Schedule& schedule) const {
        const Waits waits = waits_of(schedule, nullptr, nullptr);
        Finding finding = base(input, schedule, waits, 0);
        const size_t cpus = schedule.slots.front().cpus.size();
        finding.fixed_severity = Severity::info;
        finding.confidence = confidence(schedule, true);
        finding.title = fmt::format("More runnable threads than CPUs: {} take turns on {} CPU{}, none idle",
                                    count_of(waiting_tasks(schedule, waits)), cpus, cpus == 1 ? "" : "s");
        finding.cost.how = "measured";
        finding.gain = {0, "no CPU was idle, so sharing CPUs costs little by itself; but threads that spin while they wait, "
                           "and time limits of threads, suffer"};
        finding.advice.push_back({"Use as many threads as CPUs",
            fmt::format("the run may use {} CPUs; set the program's thread count (OMP_NUM_THREADS, -j, -T) to that, or "
                        "give it more CPUs", cpus), "launch", ""});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_cpu_oversubscribed() { return std::make_unique<CpuOversubscribed>(); }

} // namespace plumb
