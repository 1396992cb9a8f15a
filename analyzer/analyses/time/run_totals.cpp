#include "analyses/time/run_totals.h"

#include "model/shared_machine.h"

#include <algorithm>

namespace plumb {

namespace {

void add_thread(RunTotals& totals, const model::Thread& thread) {
    totals.cpu_s += static_cast<double>(thread.run_ns) * 1e-9;
    totals.user_s += static_cast<double>(thread.user_ns) * 1e-9;
    totals.system_s += static_cast<double>(thread.system_ns) * 1e-9;
    totals.run_delay_s += static_cast<double>(thread.run_delay_ns) * 1e-9;
    totals.voluntary_switches += thread.voluntary_switches;
    totals.involuntary_switches += thread.involuntary_switches;
    totals.migrations += thread.migrations;
    totals.minor_faults += thread.minor_faults;
    totals.major_faults += thread.major_faults;
    totals.threads++;
}

void add_process(RunTotals& totals, const model::Process& process) {
    for (const model::Thread& thread : process.threads)
        add_thread(totals, thread);
    for (const model::SampleSite& site : process.samples) {
        totals.samples += site.samples;
        totals.kernel_samples += std::min(site.kernel_samples, site.samples);
        totals.sampled_s += static_cast<double>(site.time_ns) * 1e-9;
    }
    totals.peak_rss_bytes = std::max(totals.peak_rss_bytes, process.max_rss_bytes);
    totals.processes++;
}

} // namespace

RunTotals totals_of(const model::Run& run) {
    RunTotals totals;
    totals.wall_s = static_cast<double>(run.wall_ns()) * 1e-9;
    for (const model::Process& process : run.processes)
        add_process(totals, process);
    for (const model::Host& host : run.hosts)
        if (!model::is_counted_before(run, host))
            totals.usable_cpus += host.allowed_cpus.empty() ? static_cast<size_t>(std::max(0, host.cpu_count))
                                                            : host.allowed_cpus.size();
    if (totals.cpu_s <= 0)
        totals.cpu_s = std::max(totals.user_s + totals.system_s, totals.sampled_s);
    if (totals.wall_s > 0)
        totals.concurrency = std::max(1.0, (totals.cpu_s + totals.run_delay_s) / totals.wall_s);
    return totals;
}

double followed_wall_ns(const model::Run& run) {
    double followed_ns = 0;
    for (const model::Process& process : run.processes) {
        for (const model::Thread& thread : process.threads)
            followed_ns += static_cast<double>(thread.wall_running_ns);
        for (const model::BlockedSite& site : process.blocked)
            followed_ns += static_cast<double>(site.wall_ns);
    }
    return followed_ns;
}

} // namespace plumb
