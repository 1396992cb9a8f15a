#include "analyses/system/system_summary.h"

#include <algorithm>
#include <functional>
#include <map>

namespace plumb {

namespace {

double in_s(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

// What a CPU did is only recorded where it did something: all other time it idled.
std::vector<SystemCpu> cpus_of(const model::Host& host, double seconds) {
    std::map<int, CpuTime> times;
    for (const int cpu : host.allowed_cpus)
        times[cpu];
    for (const model::CpuInterval& interval : host.cpu_intervals) {
        if (!interval.allowed)
            continue;
        CpuTime& time = times[interval.cpu];
        time.user_s += in_s(interval.user_ns);
        time.system_s += in_s(interval.system_ns);
        time.interrupt_s += in_s(interval.interrupt_ns);
        time.steal_s += in_s(interval.steal_ns);
    }
    std::vector<SystemCpu> cpus;
    for (auto& [cpu, time] : times) {
        time.idle_s = std::max(0.0, seconds - time.busy_s() - time.steal_s);
        cpus.push_back({cpu, time});
    }
    return cpus;
}

struct ThreadTime {
    double user_s = 0, system_s = 0;
};

// Its time on a CPU is exact; how much of it was in the kernel is known by clock ticks.
ThreadTime time_of(const model::Thread& thread) {
    const uint64_t ticks_ns = thread.user_ns + thread.system_ns;
    const double run_s = in_s(thread.run_ns > 0 ? thread.run_ns : ticks_ns);
    const double in_kernel = ticks_ns > 0 ? static_cast<double>(thread.system_ns) / static_cast<double>(ticks_ns) : 0;
    return {run_s * (1 - in_kernel), run_s * in_kernel};
}

// The part of its time that was on CPUs which were looked at, by where it ran last whenever it was looked at.
double part_on(const model::Thread& thread, const model::CpuSet& cpus) {
    uint64_t all = 0, on = 0;
    for (const model::ThreadInterval& interval : thread.intervals) {
        all += interval.run_ns;
        on += std::ranges::binary_search(cpus, interval.cpu) ? interval.run_ns : 0;
    }
    return all > 0 ? static_cast<double>(on) / static_cast<double>(all) : 1;
}

bool is_kernel_thread(const model::Process& process) {
    constexpr uint32_t kKthreadd = 2; // the parent of all of them
    return process.executable.empty() && process.modules.empty() && process.arguments.empty() &&
           (process.pid == kKthreadd || process.parent_pid == kKthreadd);
}

class Programs {
  public:
    // `by_samples`: times of programs are those of samples, else of their threads.
    explicit Programs(model::CallPaths& paths, bool by_samples) : paths_(paths), by_samples_(by_samples) {}

    void take(size_t number, const model::CpuSet& cpus) {
        const model::Process& process = paths_.run().processes[number];
        Entry& entry = programs_[process.name];
        SystemProgram& program = entry.program;
        program.name = process.name;
        program.is_kernel = is_kernel_thread(process);
        double cpu_s = 0;
        for (const model::Thread& thread : process.threads) {
            const double part = part_on(thread, cpus);
            const ThreadTime time = time_of(thread);
            program.waiting_s += part * in_s(thread.run_delay_ns);
            program.switches += static_cast<double>(thread.voluntary_switches + thread.involuntary_switches);
            cpu_s += part * (time.user_s + time.system_s);
            if (!by_samples_) {
                program.user_s += part * time.user_s;
                program.system_s += part * time.system_s;
            }
        }
        take_samples(number, process, entry);
        if (cpu_s > 0 || !process.samples.empty())
            program.pid = program.processes++ == 0 ? process.pid : 0;
    }

    void put_into(SystemSummary& summary) {
        std::map<std::string, KernelRoutine> routines;
        for (auto& [name, entry] : programs_) {
            double most_s = 0;
            for (const auto& [routine, seconds] : entry.routines_s) {
                if (seconds > most_s) {
                    most_s = seconds;
                    entry.program.routine = routine;
                }
                KernelRoutine& all = routines[routine];
                all.name = routine;
                all.seconds += seconds;
                if (seconds > all.of_program_s) {
                    all.of_program_s = seconds;
                    all.program = name;
                }
            }
            summary.kernel_sampled_s += entry.kernel_s;
            summary.switches_hz += entry.program.switches / std::max(summary.seconds, 1e-9);
            summary.waiting_threads += entry.program.waiting_s / std::max(summary.seconds, 1e-9);
            if (entry.program.cpu_s() > 0)
                summary.programs.push_back(entry.program);
        }
        for (auto& [name, routine] : routines)
            summary.routines.push_back(std::move(routine));
        std::ranges::stable_sort(summary.programs, std::greater{}, &SystemProgram::cpu_s);
        std::ranges::stable_sort(summary.routines, std::greater{}, &KernelRoutine::seconds);
    }

  private:
    struct Entry {
        SystemProgram program;
        double kernel_s = 0; // sampled
        std::map<std::string, double> routines_s;
    };

    void take_samples(size_t number, const model::Process& process, Entry& entry) {
        for (const model::SampleSite& site : process.samples) {
            if (site.samples == 0)
                continue;
            const double seconds = in_s(site.time_ns);
            const double in_kernel =
                seconds * static_cast<double>(std::min(site.kernel_samples, site.samples)) / static_cast<double>(site.samples);
            if (by_samples_) {
                entry.program.system_s += in_kernel;
                entry.program.user_s += seconds - in_kernel;
            }
            if (in_kernel <= 0)
                continue;
            entry.kernel_s += in_kernel;
            if (!process.paths[site.path].kernel)
                continue;
            if (const std::string& routine = paths_.frames_of(number, site.path).front().function; !routine.empty())
                entry.routines_s[routine] += in_kernel;
        }
    }

    model::CallPaths& paths_;
    bool by_samples_;
    std::map<std::string, Entry> programs_;
};

std::vector<SystemInterrupts> interrupts_of(const model::Host& host, double seconds) {
    std::map<std::string, double> counts;
    for (const model::InterruptSource& source : host.interrupts)
        counts[source.name] += static_cast<double>(source.count);
    std::vector<SystemInterrupts> interrupts;
    for (const auto& [name, count] : counts)
        interrupts.push_back({name, seconds > 0 ? count / seconds : 0});
    std::ranges::stable_sort(interrupts, std::greater{}, &SystemInterrupts::rate_hz);
    return interrupts;
}

std::vector<SystemMemory> memory_of(const model::Host& host) {
    std::map<int, SystemMemory> nodes;
    for (const model::NodeMemory& each : host.memory) // by time: the last one stays
        nodes[each.node] = {each.node, static_cast<double>(each.total_bytes), static_cast<double>(each.free_bytes),
                            static_cast<double>(each.file_bytes), static_cast<double>(each.anonymous_bytes)};
    std::vector<SystemMemory> memory;
    for (const auto& [number, node] : nodes)
        memory.push_back(node);
    return memory;
}

} // namespace

SystemSummary summarise_system(model::CallPaths& paths) {
    const model::Run& run = paths.run();
    SystemSummary summary;
    summary.seconds = in_s(run.wall_ns());
    if (run.hosts.empty())
        return summary;
    const model::Host& host = run.hosts.front();
    summary.cpus = cpus_of(host, summary.seconds);
    for (const SystemCpu& cpu : summary.cpus) {
        summary.time.user_s += cpu.time.user_s;
        summary.time.system_s += cpu.time.system_s;
        summary.time.interrupt_s += cpu.time.interrupt_s;
        summary.time.steal_s += cpu.time.steal_s;
        summary.time.idle_s += cpu.time.idle_s;
    }
    summary.is_sampled = host.sample_period_ns > 0;
    // Where a thread ran is only known by looks at it: on a part of the CPUs samples know better. On all of them its time is
    // exact.
    const bool looks_at_all = host.cpu_count > 0 && host.allowed_cpus.size() >= static_cast<size_t>(host.cpu_count);
    Programs programs(paths, summary.is_sampled && !looks_at_all);
    for (size_t number = 0; number < run.processes.size(); ++number)
        programs.take(number, host.allowed_cpus);
    programs.put_into(summary);
    summary.unseen_s = summary.time.user_s + summary.time.system_s;
    for (const SystemProgram& program : summary.programs)
        summary.unseen_s -= program.cpu_s();
    summary.unseen_s = std::max(0.0, summary.unseen_s);
    summary.interrupts = interrupts_of(host, summary.seconds);
    summary.memory = memory_of(host);
    return summary;
}

} // namespace plumb
