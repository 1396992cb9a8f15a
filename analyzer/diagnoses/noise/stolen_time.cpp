#include "diagnoses/noise/stolen_time.h"

#include "support/softirqs.h"

#include <algorithm>
#include <map>
#include <set>

namespace plumb {

namespace {

// CPUs by host.
std::map<uint32_t, std::set<int>> cpus_of_ranks(const model::Run& run, const model::MpiJob& job) {
    std::map<uint32_t, std::set<int>> cpus;
    for (const model::MpiRankRow& row : job.ranks) {
        const model::Process& process = run.processes[row.process];
        if (row.thread < process.threads.size())
            for (const model::ThreadInterval& interval : process.threads[row.thread].intervals)
                cpus[row.host].insert(interval.cpu);
    }
    return cpus;
}

} // namespace

StolenTime stolen_time(const model::Run& run, const model::MpiJob& job) {
    StolenTime stolen;
    const double begin_s = job.begin_s, end_s = job.begin_s + job.elapsed_s;
    std::map<std::string, double> sources;
    size_t cpu_count = 0;
    for (const auto& [host, cpus] : cpus_of_ranks(run, job)) {
        if (host >= run.hosts.size())
            continue;
        cpu_count += cpus.size();
        for (const model::CpuInterval& interval : run.hosts[host].cpu_intervals) {
            if (!cpus.contains(interval.cpu) || interval.end_ns <= interval.begin_ns || interval.end_ns <= run.begin_ns)
                continue;
            const double from_s = (static_cast<double>(interval.begin_ns) - static_cast<double>(run.begin_ns)) * 1e-9;
            const double to_s = (static_cast<double>(interval.end_ns) - static_cast<double>(run.begin_ns)) * 1e-9;
            const double part = std::max(0.0, std::min(to_s, end_s) - std::max(from_s, begin_s)) / (to_s - from_s);
            stolen.steal_s += part * static_cast<double>(interval.steal_ns) * 1e-9;
            stolen.interrupt_s += part * static_cast<double>(interval.interrupt_ns) * 1e-9;
        }
        for (const model::InterruptSource& source : run.hosts[host].interrupts)
            if (cpus.contains(source.cpu) && !is_softirq(source.name)) // these follow from others
                sources[source.name] += static_cast<double>(source.count);
    }
    stolen.cpu_s = job.elapsed_s * static_cast<double>(cpu_count);
    const double run_s = static_cast<double>(run.wall_ns()) * 1e-9;
    for (const auto& [name, count] : sources)
        stolen.sources.emplace_back(name, run_s > 0 && cpu_count > 0 ? count / run_s / static_cast<double>(cpu_count) : 0);
    std::ranges::stable_sort(stolen.sources, std::ranges::greater(), [](const auto& source) { return source.second; });
    return stolen;
}

double most_lost_s(const model::MpiJob& job, double stolen_s) {
    double waited_s = 0;
    for (const model::MpiRankRow& row : job.ranks)
        waited_s += row.collective_wait_s + row.late_sender_s;
    // Where one rank is held up, all others wait for as long.
    return std::min(stolen_s, waited_s / static_cast<double>(std::max<size_t>(job.ranks.size(), 2) - 1));
}

} // namespace plumb
