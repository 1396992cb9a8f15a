// The waits of a run by what they are, and how long the run would have taken without some of them.
//
// What is known: how long each thread was blocked (exact), in what (by looks), and how much of the run's wall time depended
// on each wait (see trace::ThreadWall). A run without a wait ends no earlier than
//   - the wall time less what of it depended on the wait,
//   - what the longest of its threads does without waiting for others: running, files, sleep, less its own part of the wait,
//   - its CPU time, shared by all CPUs that it may use.
// The largest of the three is the replayed wall time. It is optimistic: threads that no longer wait may meet elsewhere.
#pragma once

#include "analyses/time/wait_class.h"
#include "model/call_paths.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace plumb {

struct Wait {
    uint32_t process = 0; // index into Run::processes
    const model::BlockedSite* site = nullptr;
    WaitClass what;
    double seconds = 0; // its part of the thread's blocked time
    double wall_s = 0, alone_s = 0, quiet_s = 0, overdue_s = 0; // see model::BlockedSite
    uint64_t count = 0; // at least so many waits, as looks or switches tell
};

// Whether it ends by what another thread or process of the run does.
bool is_for_others(WaitKind kind);

// Below this share of the run's wall time a wait is nobody's work.
inline constexpr double kLeastWallShare = 0.01;

// Whether a wait that `looks` at random moments found is, with all likelihood, more than that. `share`: of the wall time, as
// they saw it. A long run needs many looks to say so of a rare wait, a short one few of a frequent one.
bool is_known_well(uint64_t looks, double share);

class WaitReplay {
  public:
    explicit WaitReplay(model::CallPaths& paths);

    const std::vector<Wait>& waits() const { return waits_; }
    double wall_s() const { return wall_s_; }
    // Its CPU time, and the time in which its threads could have run but had no CPU, shared by all CPUs that it may use: what
    // overlapping more of it cannot undercut.
    double busy_bound_s() const { return busy_bound_s_; }
    double cpu_bound_s(double less_s) const { return cpu_bound_s_ - less_s / cpus_; } // of its CPU time alone, if that much is saved
    // From time that looks stand for, in nanoseconds, to seconds in which the thread was blocked.
    double blocked_scale(uint32_t process, uint32_t thread) const {
        const auto found = blocked_scale_.find({process, thread});
        return found == blocked_scale_.end() ? 0 : found->second;
    }
    double wall_scale() const { return wall_scale_; } // from the recorded wall_ns to seconds of the run's wall time

    using ThreadKey = std::pair<uint32_t, uint32_t>; // process, thread
    // What it does without waiting for others: running, files, sleep.
    double own_s(const ThreadKey& thread) const {
        const auto found = own_s_.find(thread);
        return found == own_s_.end() ? 0 : found->second;
    }
    using Removed = std::map<ThreadKey, double>;

    // Wall seconds of the run without the waits for which `goes` is true. `wall_s`: what of the wall time depended on them, and
    // on `computed`: CPU seconds of threads that go as well.
    template <class Goes> double without(double wall_s, Goes goes, const Removed& computed = {}) const {
        Removed removed = computed;
        double cpu_s = 0;
        for (const auto& [thread, seconds] : computed)
            cpu_s += seconds;
        for (const Wait& wait : waits_)
            if (!is_for_others(wait.what.kind) && goes(wait))
                removed[{wait.process, wait.site->thread}] += wait.seconds;
        return replay(wall_s, removed, cpu_s);
    }

  private:
    double replay(double wall_s, const Removed& removed, double cpu_s) const;
    void add_process(model::CallPaths& paths, uint32_t process);

    std::vector<Wait> waits_;
    std::map<ThreadKey, double> blocked_scale_;
    std::map<ThreadKey, double> own_s_;
    double wall_s_ = 0, wall_scale_ = 0, cpu_bound_s_ = 0, busy_bound_s_ = 0, cpus_ = 1;
};

} // namespace plumb
