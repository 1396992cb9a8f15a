// Threads that want their CPU all the time, and lose it now and then: to programs that run there seldom, to interrupts, or to the
// host of a virtual machine. What a thread waited is exact; to whom it lost its CPU follows from who else ran there. Where many
// such threads wait for one another, all of them lose what the one loses that is hit: plumb run and plumb noise tell how much
// that is.
#include "diagnoses/machine/machine_findings.h"
#include "diagnoses/machine/program_names.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace plumb {

namespace {

constexpr double kAlways = 0.9;                       // of its time wants a thread its CPU that has no pauses
constexpr double kLeastLoss = 0.01, kMostLoss = 0.10; // of a worker's time; more is no noise but contention
constexpr double kLeastNamed = 0.5;                   // of the loss, that others are known to have run there
constexpr double kLeastWork_s = 1;

double in_seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

struct WorkerLoss { // of all threads of one program that have no pauses
    double wanted_s = 0, waited_s = 0;
    size_t threads = 0;
    std::map<int, double> waited_by_cpu_s;
};

bool is_worker(const model::Thread& thread, const model::CpuSet& cpus, double run_s, WorkerLoss& loss) {
    double wanted_s = 0, waited_s = 0;
    std::map<int, double> by_cpu_s;
    for (const model::ThreadInterval& interval : thread.intervals) {
        if (!std::ranges::binary_search(cpus, interval.cpu))
            continue;
        wanted_s += in_seconds(interval.run_ns + interval.run_delay_ns);
        waited_s += in_seconds(interval.run_delay_ns);
        by_cpu_s[interval.cpu] += in_seconds(interval.run_delay_ns);
    }
    if (wanted_s < std::max(kLeastWork_s, kAlways * run_s) || waited_s > kMostLoss * wanted_s)
        return false;
    loss.wanted_s += wanted_s;
    loss.waited_s += waited_s;
    ++loss.threads;
    for (const auto& [cpu, seconds] : by_cpu_s)
        loss.waited_by_cpu_s[cpu] += seconds;
    return true;
}

Finding base(const std::string& program, const WorkerLoss& loss, double lost_s) {
    Finding finding;
    finding.id = "os-noise";
    finding.whole = "the time of " + program;
    finding.cost = {lost_s, lost_s / loss.wanted_s, "measured"};
    finding.gain = {lost_s / loss.wanted_s, "measured, of these threads by themselves; threads that wait for them lose as well"};
    finding.subject.kind = "daemon";
    finding.evidence["thread_count"] = static_cast<int64_t>(loss.threads);
    finding.evidence["lost_seconds"] = lost_s;
    return finding;
}

// What else ran on the CPUs where the program's threads waited, by the CPU on which each thread ran last when it was looked at.
std::map<std::string, double> others_there(const model::Run& run, const std::string& program, const WorkerLoss& loss) {
    std::map<std::string, double> others;
    for (const model::Process& process : run.processes) {
        if (process.name == program)
            continue;
        for (const model::Thread& thread : process.threads)
            for (const model::ThreadInterval& interval : thread.intervals)
                if (loss.waited_by_cpu_s.contains(interval.cpu) && interval.run_ns > 0)
                    others[process.name] += in_seconds(interval.run_ns);
    }
    return others;
}

std::vector<Finding> by_programs(const model::Run& run, const std::string& program, const WorkerLoss& loss) {
    std::map<std::string, double> others = others_there(run, program, loss);
    double known_s = 0;
    for (const auto& [name, seconds] : others)
        known_s += seconds;
    if (known_s < kLeastNamed * loss.waited_s)
        return {};
    std::erase_if(others, [&](const auto& each) { return each.second < 0.05 * known_s; });
    if (others.empty())
        return {};
    const double lost_s = std::min(loss.waited_s, known_s); // they cannot have taken more than they used
    if (lost_s < kLeastLoss * loss.wanted_s)
        return {};
    Finding finding = base(program, loss, lost_s);
    finding.title =
        fmt::format("{} of {} {} {} of the time to {}", counted(loss.threads, "thread", "threads"), program,
                    loss.threads == 1 ? "loses" : "lose", format_fraction(lost_s / loss.wanted_s), program_list(others));
    finding.confidence = others.size() == 1 ? 0.9 : 0.7;
    finding.subject.name = program_list(others);
    finding.evidence["others_cpu_seconds"] = known_s;
    finding.evidence["waiting_seconds"] = loss.waited_s;
    finding.advice.push_back({"Keep what takes the time off these CPUs",
                              "taskset, CPUAffinity= of a systemd unit, or one CPU of the node for the system alone", "system",
                              ""});
    return {finding};
}

std::vector<Finding> outside_of_programs(const MachineInput& input, const std::string& program, const WorkerLoss& loss) {
    double interrupt_s = 0, steal_s = 0, all_s = 0;
    for (const SystemCpu& cpu : input.system.cpus)
        if (loss.waited_by_cpu_s.contains(cpu.cpu)) {
            interrupt_s += cpu.time.interrupt_s;
            steal_s += cpu.time.steal_s;
            all_s += cpu.time.all_s();
        }
    std::vector<Finding> findings;
    if (all_s > 0 && interrupt_s >= kLeastLoss * all_s) {
        Finding finding = base(program, loss, interrupt_s / all_s * loss.wanted_s);
        finding.title =
            fmt::format("Interrupts take {} of the CPUs on which {} computes", format_fraction(interrupt_s / all_s), program);
        finding.subject = {"device", input.system.interrupts.empty() ? "" : input.system.interrupts[0].name, {}};
        finding.confidence = 0.8;
        finding.advice.push_back({"Move these interrupts to other CPUs",
                                  "/proc/irq/N/smp_affinity_list, or irqbalance's list of banned CPUs", "system", ""});
        findings.push_back(std::move(finding));
    }
    if (all_s > 0 && steal_s >= kLeastLoss * all_s) {
        Finding finding = base(program, loss, steal_s / all_s * loss.wanted_s);
        finding.title = fmt::format("The host of this virtual machine takes {} of the CPUs on which {} computes",
                                    format_fraction(steal_s / all_s), program);
        finding.subject.name = "hypervisor";
        finding.confidence = 0.9;
        finding.advice.push_back({"Use virtual CPUs that are not shared", "ask for dedicated or pinned CPUs", "system", ""});
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace

std::vector<Finding> interrupted_workers(const MachineInput& input) {
    const model::Run& run = input.paths.run();
    if (run.hosts.empty())
        return {};
    std::map<std::string, WorkerLoss> losses;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            if (WorkerLoss one; is_worker(thread, run.hosts.front().allowed_cpus, input.system.seconds, one)) {
                WorkerLoss& all = losses[process.name];
                all.wanted_s += one.wanted_s;
                all.waited_s += one.waited_s;
                all.threads += one.threads;
                for (const auto& [cpu, seconds] : one.waited_by_cpu_s)
                    all.waited_by_cpu_s[cpu] += seconds;
            }
    const auto most = std::ranges::max_element(losses, {}, [](const auto& each) { return each.second.wanted_s; });
    if (most == losses.end())
        return {};
    std::vector<Finding> findings;
    for (const auto& [program, loss] : losses)
        std::ranges::move(by_programs(run, program, loss), std::back_inserter(findings));
    std::ranges::move(outside_of_programs(input, most->first, most->second), std::back_inserter(findings));
    return findings;
}

} // namespace plumb
