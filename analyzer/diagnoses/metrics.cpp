#include "diagnoses/metrics.h"

#include "analyses/analyses.h"
#include "analyses/memory/bandwidth_summary.h"
#include "analyses/memory/node_matrix.h"
#include "analyses/time/own_time.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/counter_metrics.h"
#include "diagnoses/mpi/mpi_metrics.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

double parallelism_possible(const RunTotals& totals) {
    return static_cast<double>(std::min(totals.usable_cpus, totals.threads));
}

// Of the threads that did a noticeable part of the work: a main thread that only waits is not a worker.
struct Workers {
    size_t count = 0;
    double sum_s = 0, most_s = 0;
};

Workers workers_of(const model::Run& run) {
    constexpr double kLeastPart = 0.05; // of the busiest thread
    Workers workers;
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads)
            workers.most_s = std::max(workers.most_s, static_cast<double>(thread.run_ns) * 1e-9);
    for (const model::Process& process : run.processes)
        for (const model::Thread& thread : process.threads) {
            const double run_s = static_cast<double>(thread.run_ns) * 1e-9;
            if (run_s < kLeastPart * workers.most_s || run_s <= 0)
                continue;
            workers.count++;
            workers.sum_s += run_s;
        }
    return workers;
}

void add_rates(std::vector<Metric>& metrics, const RunTotals& totals) {
    const auto rate = [&](const char* name, uint64_t count, const char* how) {
        metrics.push_back({name, static_cast<double>(count) / totals.wall_s, "per second", how});
    };
    rate("voluntary switches", totals.voluntary_switches, "threads that went to sleep, a second of wall time");
    rate("involuntary switches", totals.involuntary_switches,
         "threads that lost their CPU while they could have run on, a second of wall time");
    rate("migrations", totals.migrations, "threads that moved to another CPU, a second of wall time; a lower bound "
                                          "where the kernel does not count them");
    rate("minor faults", totals.minor_faults, "pages mapped without reading a disk, a second of wall time");
    rate("major faults", totals.major_faults, "pages read from a disk or from swap, a second of wall time");
}

void add_memory_bandwidth(std::vector<Metric>& metrics, const std::vector<BandwidthUse>& uses, double sampled_s) {
    const std::optional<BandwidthSummary> most = summarise_bandwidth(uses, sampled_s);
    if (!most)
        return;
    double bytes_of_all = 0;
    for (const BandwidthUse& use : uses)
        for (const LoopUse& loop : use.loops)
            bytes_of_all += loop.bytes;
    metrics.push_back({"memory traffic", bytes_of_all, "bytes",
                       "between memory and the caches, only in loops over arrays larger than the caches: time in these loops x "
                       "the measured rate of their streams"});
    metrics.push_back({"memory bandwidth", most->bytes_per_s, "bytes per second",
                       fmt::format("read from and written to memory by {:.1f} threads in loops over arrays larger than the "
                                   "caches, including lines that a store reads first; mean of {} moments when such loops "
                                   "ran", most->threads, most->bursts)});
    if (most->roof_fraction > 0)
        metrics.push_back({"memory bandwidth share", most->roof_fraction, "fraction",
                           "of the bandwidth that as many threads reach on the same CPUs with such streams, measured after the "
                           "run"});
}

} // namespace

std::vector<Metric> metrics_of(const model::CallPaths& paths, const Analyses& analyses) {
    const model::Run& run = paths.run();
    const RunTotals totals = totals_of(run);
    std::vector<Metric> metrics;
    if (totals.wall_s <= 0)
        return metrics;
    metrics.push_back({"wall time", totals.wall_s, "seconds", "from the launch to the last activity of the run"});
    metrics.push_back({"CPU time", totals.cpu_s, "seconds", "on a CPU, user and kernel, all threads of the run"});
    if (totals.usable_cpus)
        metrics.push_back({"CPU utilisation", totals.cpu_s / (totals.wall_s * static_cast<double>(totals.usable_cpus)),
                           "fraction", fmt::format("CPU time / (wall time x {} CPUs that the run may use)",
                                                   totals.usable_cpus)});
    const model::MpiJob* job = main_mpi_job(run);
    if (job)
        for (Metric& metric : mpi_metrics_of(*job))
            metrics.push_back(std::move(metric));
    const Workers workers = workers_of(run);
    if (!job && workers.count > 1 && workers.sum_s > 0 && totals.usable_cpus) {
        const double possible = std::min(static_cast<double>(workers.count), parallelism_possible(totals));
        const double balance = workers.sum_s / static_cast<double>(workers.count) / workers.most_s;
        metrics.push_back({"parallel efficiency", totals.cpu_s / (totals.wall_s * possible), "fraction",
                           fmt::format("CPU time / (wall time x {:.0f}, the smaller of working threads and usable CPUs); "
                                       "time spent spinning counts as work", possible)});
        metrics.push_back({"load balance", balance, "fraction",
                           fmt::format("mean / longest CPU time of the {} threads with at least 5 % of the longest; assumes "
                                       "that they work at the same time", workers.count)});
    }
    if (totals.cpu_s + totals.run_delay_s > 0)
        metrics.push_back({"run delay fraction", totals.run_delay_s / (totals.cpu_s + totals.run_delay_s), "fraction",
                           "time runnable but without a CPU / time runnable, all threads"});
    if (totals.user_s + totals.system_s > 0)
        metrics.push_back({"kernel fraction", totals.system_s / (totals.user_s + totals.system_s), "fraction",
                           "system time / CPU time, by the kernel's accounting"});
    if (const NodeTraffic traffic = node_traffic_of(run); traffic.samples > 0)
        metrics.push_back({"remote fraction", traffic.remote_fraction(), "fraction",
                           fmt::format("sampled time of accesses to memory of other nodes / of all {} sampled accesses whose "
                                       "nodes are known", traffic.samples)});
    add_memory_bandwidth(metrics, analyses.bandwidth, totals.sampled_s);
    add_rates(metrics, totals);
    for (Metric& metric : counter_metrics_of(run))
        metrics.push_back(std::move(metric));
    if (totals.peak_rss_bytes)
        metrics.push_back({"peak resident memory", static_cast<double>(totals.peak_rss_bytes), "bytes",
                           "largest resident set of one process"});
    if (totals.cpu_s > 0)
        metrics.push_back({"own cost", own_time_of(paths).total() / totals.cpu_s, "fraction",
                           "CPU time of the recorder, the samples and the shim / CPU time of the run"});
    return metrics;
}

} // namespace plumb
