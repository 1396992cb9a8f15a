// Threads that wait for a CPU. Where other CPUs idle at the same time, moving them gains; where all are busy, nothing but fewer
// threads does. Both are compared moment by moment: idling in another minute helps nobody.
#include "diagnoses/machine/machine_findings.h"
#include "diagnoses/machine/program_names.h"
#include "support/cpu_list.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastWaitShare = 0.10; // of the time that a thread wanted a CPU: less is what wake-ups and turns cost
constexpr double kLeastWait_s = 0.2;
constexpr double kLeastWanted = 0.10; // of the recording: a daemon that is busy now and then may wait its turn
constexpr double kLeastConfinedGain = 0.05,
                 kLeastFreeGain = 0.25; // the scheduler may leave free threads where they are for a moment
constexpr double kManyWaiting = 0.5;    // threads, on average
constexpr size_t kMoments = 600;        // that a recording is cut into
constexpr size_t kMostCommands = 4;

double seconds_of(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct WaitingThread {
    const model::Process* process;
    const model::Thread* thread;
    double wanted_s, waited_s;
    bool is_confined; // by its CPU mask, to some of the CPUs that were looked at
};

std::vector<WaitingThread> waiting_threads(const model::Run& run, const model::CpuSet& cpus, double recorded_s) {
    std::vector<WaitingThread> waiting;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads) {
            double wanted_s = 0, waited_s = 0;
            for (const model::ThreadInterval& interval : thread.intervals)
                if (std::ranges::binary_search(cpus, interval.cpu)) {
                    wanted_s += seconds_of(interval.run_ns + interval.run_delay_ns);
                    waited_s += seconds_of(interval.run_delay_ns);
                }
            if (waited_s < kLeastWait_s || waited_s < kLeastWaitShare * wanted_s || wanted_s < kLeastWanted * recorded_s)
                continue;
            const bool confined = !thread.allowed_cpus.empty() && !std::ranges::includes(thread.allowed_cpus, cpus);
            waiting.push_back({&process, &thread, wanted_s, waited_s, confined});
        }
    std::ranges::stable_sort(waiting, std::greater{}, &WaitingThread::waited_s);
    return waiting;
}

// Seconds of each CPU in each moment of the recording.
class Moments {
  public:
    Moments(uint64_t begin_ns, uint64_t end_ns)
        : begin_ns_(begin_ns), length_ns_(std::max<uint64_t>(1, (std::max(end_ns, begin_ns) - begin_ns) / kMoments)) {}

    double length_s() const { return seconds_of(length_ns_); }

    void add(int cpu, uint64_t from_ns, uint64_t to_ns, double seconds) {
        std::vector<double>& of_cpu = by_cpu_.try_emplace(cpu, kMoments, 0.0).first->second;
        const double length = seconds_of(to_ns > from_ns ? to_ns - from_ns : 0);
        for (size_t moment = index(from_ns); length > 0 && moment <= index(to_ns); ++moment) {
            const uint64_t low = std::max(from_ns, begin_ns_ + moment * length_ns_);
            const uint64_t high = std::min(to_ns, begin_ns_ + (moment + 1) * length_ns_);
            of_cpu[moment] += high > low ? seconds * seconds_of(high - low) / length : 0;
        }
    }

    double at(int cpu, size_t moment) const {
        const auto of_cpu = by_cpu_.find(cpu);
        return of_cpu == by_cpu_.end() ? 0 : of_cpu->second[moment];
    }

  private:
    size_t index(uint64_t time_ns) const {
        return std::min<size_t>(kMoments - 1, time_ns > begin_ns_ ? (time_ns - begin_ns_) / length_ns_ : 0);
    }

    uint64_t begin_ns_, length_ns_;
    std::map<int, std::vector<double>> by_cpu_;
};

struct Room {                     // for those that wait
    double saved_s = 0;           // of their waiting, while as much time of other CPUs was idle
    std::map<int, double> idle_s; // of CPUs on which hardly anybody waited
    std::map<int, double> waited_s;
};

Room room_for(const model::Run& run, const model::Host& host, const std::vector<WaitingThread>& waiting) {
    Moments waits(run.begin_ns, run.end_ns), busy(run.begin_ns, run.end_ns);
    Room room;
    for (const WaitingThread& each : waiting)
        for (const model::ThreadInterval& interval : each.thread->intervals)
            if (std::ranges::binary_search(host.allowed_cpus, interval.cpu)) {
                waits.add(interval.cpu, interval.begin_ns, interval.end_ns, seconds_of(interval.run_delay_ns));
                room.waited_s[interval.cpu] += seconds_of(interval.run_delay_ns);
            }
    for (const model::CpuInterval& interval : host.cpu_intervals) {
        const uint64_t used_ns = interval.user_ns + interval.system_ns + interval.interrupt_ns + interval.steal_ns;
        busy.add(interval.cpu, interval.begin_ns, interval.end_ns, seconds_of(used_ns));
    }
    for (size_t moment = 0; moment < kMoments; ++moment) {
        double waiting_s = 0, idle_s = 0;
        for (const int cpu : host.allowed_cpus) {
            const double waited = waits.at(cpu, moment), idle = std::max(0.0, waits.length_s() - busy.at(cpu, moment));
            waiting_s += waited;
            if (waited < kLeastWaitShare * waits.length_s()) {
                idle_s += idle;
                room.idle_s[cpu] += idle;
            }
        }
        room.saved_s += std::min(waiting_s, idle_s);
    }
    return room;
}

// At least a part of the most that one has.
model::CpuSet most_of(const std::map<int, double>& seconds, double part) {
    double most = 0;
    for (const auto& [cpu, value] : seconds)
        most = std::max(most, value);
    model::CpuSet cpus;
    for (const auto& [cpu, value] : seconds)
        if (value > 0 && value >= part * most)
            cpus.push_back(cpu);
    return cpus;
}

void describe(const std::vector<WaitingThread>& waiting, double wanted_s, double waited_s, Finding& finding) {
    finding.cost = {waited_s, wanted_s > 0 ? waited_s / wanted_s : 0, "measured"};
    std::vector<std::string> names;
    for (const WaitingThread& each : waiting)
        if (names.size() < 64)
            names.push_back(fmt::format("{} ({})", each.process->name, each.thread->tid));
    finding.subject.details["threads"] = names;
    finding.evidence["thread_count"] = static_cast<int64_t>(waiting.size());
    finding.evidence["waiting_seconds"] = waited_s;
}

} // namespace

std::vector<Finding> contended_cpus(const MachineInput& input) {
    const model::Run& run = input.paths.run();
    if (run.hosts.empty())
        return {};
    const model::Host& host = run.hosts.front();
    const std::vector<WaitingThread> waiting = waiting_threads(run, host.allowed_cpus, input.system.seconds);
    double wanted_s = 0, waited_s = 0, confined_s = 0;
    std::map<std::string, double> programs;
    for (const WaitingThread& each : waiting) {
        wanted_s += each.wanted_s;
        waited_s += each.waited_s;
        confined_s += each.is_confined ? each.waited_s : 0;
        programs[each.process->name] += each.waited_s;
    }
    if (waiting.empty())
        return {};
    const Room room = room_for(run, host, waiting);
    const bool confined = confined_s > 0.5 * waited_s;
    const model::CpuSet waited_for = most_of(room.waited_s, 0.1), idle = most_of(room.idle_s, 0.5);
    const std::string who = program_list(programs);
    Finding finding;
    finding.id = "cpu-oversubscribed";
    finding.whole = "the time of these threads";
    finding.subject.kind = "cpu";
    finding.subject.name = format_cpu_list(waited_for);
    describe(waiting, wanted_s, waited_s, finding);
    if (room.saved_s >= (confined ? kLeastConfinedGain : kLeastFreeGain) * wanted_s && !idle.empty()) {
        finding.title = fmt::format("{} of {} {} for CPU {} {} of the time{}, while CPU {} {}",
                                    counted(waiting.size(), "thread", "threads"), who, waiting.size() == 1 ? "waits" : "wait",
                                    format_cpu_list(waited_for), format_fraction(waited_s / wanted_s),
                                    !confined             ? ""
                                    : waiting.size() == 1 ? ", to which it is confined"
                                                          : ", to which they are confined",
                                    format_cpu_list(idle), idle.size() == 1 ? "idles" : "idle");
        finding.confidence = confined ? 0.9 : 0.7;
        finding.gain = {room.saved_s / wanted_s, "estimated: waiting while other CPUs had as much idle time in the same moments"};
        finding.evidence["idle_cpu_seconds"] = [&] {
            double sum = 0;
            for (const auto& [cpu, seconds] : room.idle_s)
                sum += seconds;
            return sum;
        }();
        Advice advice{
            confined ? "Let these threads use the idle CPUs" : "Place these threads on CPUs of their own",
            confined
                ? "their CPU masks say where they may run; a job's CPU set, or the launcher's binding, may have to be widened"
                : "the scheduler leaves them together; plumb run --pin, taskset or the launcher's binding decide",
            "system", ""};
        std::vector<uint32_t> pids;
        for (const WaitingThread& each : waiting)
            if (std::ranges::find(pids, each.process->pid) == pids.end() && pids.size() < kMostCommands)
                pids.push_back(each.process->pid);
        model::CpuSet both = waited_for;
        both.insert(both.end(), idle.begin(), idle.end());
        std::ranges::sort(both);
        for (const uint32_t pid : pids)
            advice.command +=
                fmt::format("{}taskset -a -c -p {} {}", advice.command.empty() ? "" : "; ", format_cpu_list(both), pid);
        if (!confined)
            advice.command.clear();
        finding.advice.push_back(std::move(advice));
        return {finding};
    }
    if (input.system.waiting_threads < kManyWaiting)
        return {};
    finding.title = fmt::format("On average {} threads could run and had no CPU, mainly of {}: {} want more than {}",
                                three_digits(input.system.waiting_threads), who, waiting.size() == 1 ? "it" : "they",
                                counted(host.allowed_cpus.size(), "CPU gives", "CPUs give"));
    finding.gain = {0, "not by another placement: the CPUs have no idle time that they could use"};
    finding.fixed_severity = Severity::info;
    return {finding};
}

} // namespace plumb
