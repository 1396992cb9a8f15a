#include "analyses/time/short_waits.h"
#include "analyses/time/run_totals.h"
#include "analyses/time/thread_times.h"

#include <algorithm>
#include <cmath>

namespace plumb {

namespace {

constexpr size_t kShortBins = 3; // of ThreadSwitches: below a millisecond

bool is_of_short_waits(const model::BlockedSite& site) { return site.waits * 4 >= site.looks * 3; } // nearly each look met another

double short_blocked_ns(const model::ThreadSwitches& switches) {
    double sum = 0;
    for (size_t bin = 0; bin < kShortBins; ++bin)
        sum += static_cast<double>(switches.blocked_times_ns[bin]);
    return sum;
}

void grow(uint64_t& part, double factor) { part = static_cast<uint64_t>(std::llround(static_cast<double>(part) * factor)); }

// `followed`: of the run's wall time, the part that looks followed.
void restore(model::Thread& thread, const std::vector<model::BlockedSite*>& sites, double followed) {
    double looked_ns = 0, short_looked_ns = 0, short_wall_ns = 0;
    for (const model::BlockedSite* site : sites) {
        looked_ns += static_cast<double>(site->time_ns);
        if (!is_of_short_waits(*site))
            continue;
        short_looked_ns += static_cast<double>(site->time_ns);
        short_wall_ns += static_cast<double>(site->wall_ns);
    }
    const ThreadTimes times = thread_times(thread);
    const double missing_ns = std::min(times.blocked_s * 1e9 * followed - looked_ns, short_blocked_ns(thread.switches) * followed);
    const double seemed_running_ns = times.life_s() * 1e9 * followed - looked_ns;
    if (missing_ns <= 0 || seemed_running_ns <= 0)
        return;
    // The run depended on the thread for this part of the time in which it seemed to run.
    const double on_the_wall = std::min(1.0, static_cast<double>(thread.wall_running_ns) / seemed_running_ns);
    const double moved_most_ns = std::min(on_the_wall * missing_ns,
                                          static_cast<double>(thread.wall_running_ns - thread.wall_no_cpu_ns));
    if (short_looked_ns <= 0) {
        thread.wall_unseen_ns = static_cast<uint64_t>(moved_most_ns);
        return;
    }
    if (short_wall_ns <= 0)
        return; // others were waited for: the run depended on them
    const double moved_ns = std::min(moved_most_ns, missing_ns * short_wall_ns / short_looked_ns);
    for (model::BlockedSite* site : sites)
        if (is_of_short_waits(*site))
            for (uint64_t* part : {&site->wall_ns, &site->alone_ns, &site->quiet_ns, &site->overdue_ns})
                grow(*part, 1 + moved_ns / short_wall_ns);
    thread.wall_running_ns -= static_cast<uint64_t>(moved_ns);
}

} // namespace

void restore_short_waits(model::Run& run) {
    const double followed = run.wall_ns() > 0 ? std::min(1.0, followed_wall_ns(run) / static_cast<double>(run.wall_ns())) : 0;
    for (model::Process& process : run.processes) {
        std::vector<std::vector<model::BlockedSite*>> sites(process.threads.size());
        for (model::BlockedSite& site : process.blocked)
            if (site.thread < sites.size())
                sites[site.thread].push_back(&site);
        for (size_t thread = 0; thread < process.threads.size(); ++thread)
            if (process.threads[thread].wall_running_ns > 0 && has_exact_switches(process.threads[thread]))
                restore(process.threads[thread], sites[thread], followed);
    }
}

} // namespace plumb
