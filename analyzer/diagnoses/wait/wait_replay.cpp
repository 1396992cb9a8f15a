#include "diagnoses/wait/wait_replay.h"

#include "analyses/time/run_totals.h"
#include "analyses/time/thread_times.h"
#include "diagnoses/common/confidence.h"
#include "support/idle_share.h"
#include "support/nanoseconds.h"

#include <algorithm>

namespace plumb {

namespace {

constexpr double kWaitedForShare = 0.1;
constexpr uint64_t kLeastLooks = 5; // fewer may be one event that several looks met
constexpr uint64_t kEnoughLooks = 1'000'000'000; // more change nothing; damaged files have any number
constexpr double kLeastWallConfidence = 0.95;

// A timer, or a loop that looks from time to time: a thread, not the first of its process, that nobody waited for while it
// slept. Such a loop makes fewer rounds in a shorter run.
bool has_slack(const model::Process& process, const Wait& wait) {
    const model::Thread& thread = process.threads[wait.site->thread];
    return wait.what.kind == WaitKind::sleep && thread.tid != process.pid && wait.wall_s < kWaitedForShare * wait.seconds;
}

} // namespace

bool is_known_well(uint64_t looks, double share) {
    if (looks < kLeastLooks || !(share > kLeastWallShare))
        return false;
    looks = std::min(looks, kEnoughLooks);
    const auto all = static_cast<uint64_t>(static_cast<double>(looks) / std::min(share, 1.0));
    return confidence_above(looks, all, kLeastWallShare) >= kLeastWallConfidence;
}

bool is_for_others(WaitKind kind) {
    switch (kind) {
    case WaitKind::file:
    case WaitKind::file_sync:
    case WaitKind::terminal:
    case WaitKind::sleep:
    case WaitKind::page_in:
    case WaitKind::memory_map:
    case WaitKind::plumb:
    case WaitKind::other:
        return false;
    default:
        return true;
    }
}

WaitReplay::WaitReplay(model::CallPaths& paths) {
    const model::Run& run = paths.run();
    const RunTotals totals = totals_of(run);
    wall_s_ = totals.wall_s;
    cpus_ = static_cast<double>(std::max<size_t>(totals.usable_cpus, 1));
    cpu_bound_s_ = totals.cpu_s / cpus_;
    busy_bound_s_ = (totals.cpu_s + totals.run_delay_s) / cpus_;
    const double followed_ns = followed_wall_ns(run);
    wall_scale_ = followed_ns > 0 ? wall_s_ / followed_ns : 0;
    for (uint32_t process = 0; process < run.processes.size(); ++process)
        add_process(paths, process);
}

void WaitReplay::add_process(model::CallPaths& paths, uint32_t index) {
    const model::Process& process = paths.run().processes[index];
    std::vector<double> looked_ns(process.threads.size());
    for (const model::BlockedSite& site : process.blocked)
        if (site.thread < looked_ns.size())
            looked_ns[site.thread] += static_cast<double>(site.time_ns);
    for (uint32_t thread = 0; thread < process.threads.size(); ++thread)
        own_s_[{index, thread}] = thread_times(process.threads[thread]).run_s;
    for (uint32_t thread = 0; thread < process.threads.size(); ++thread)
        if (looked_ns[thread] > 0)
            blocked_scale_[{index, thread}] = thread_times(process.threads[thread]).blocked_s / looked_ns[thread];
    for (const model::BlockedSite& site : process.blocked) {
        if (site.thread >= looked_ns.size() || looked_ns[site.thread] <= 0)
            continue;
        Wait wait{index, &site, wait_class_of(paths, index, site)};
        wait.seconds = static_cast<double>(site.time_ns) * blocked_scale(index, site.thread);
        wait.count = std::max(site.waits, least_waits(process.threads[site.thread], wait.seconds));
        wait.wall_s = static_cast<double>(site.wall_ns) * wall_scale_;
        wait.alone_s = static_cast<double>(site.alone_ns) * wall_scale_;
        wait.quiet_s = static_cast<double>(site.quiet_ns) * wall_scale_;
        wait.overdue_s = static_cast<double>(site.overdue_ns) * wall_scale_;
        if (!is_for_others(wait.what.kind) && !has_slack(process, wait))
            own_s_[{index, site.thread}] += wait.seconds;
        waits_.push_back(std::move(wait));
    }
}

double WaitReplay::replay(double wall_s, const Removed& removed, double cpu_s) const {
    double replayed_s = std::max(wall_s_ - wall_s, cpu_bound_s_ - cpu_s / cpus_);
    for (const auto& [thread, own_s] : own_s_) {
        const auto less = removed.find(thread);
        replayed_s = std::max(replayed_s, own_s - (less == removed.end() ? 0 : less->second));
    }
    return std::min(replayed_s, wall_s_);
}

} // namespace plumb
