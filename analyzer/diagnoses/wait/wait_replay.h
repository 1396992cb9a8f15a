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
    double wall_s = 0, alone_s = 0;
};

// Whether it ends by what another thread or process of the run does.
bool is_for_others(WaitKind kind);

class WaitReplay {
  public:
    explicit WaitReplay(model::CallPaths& paths);

    const std::vector<Wait>& waits() const { return waits_; }
    double wall_s() const { return wall_s_; }
    double wall_scale() const { return wall_scale_; } // from the recorded wall_ns to seconds of the run's wall time

    // Wall seconds of the run without the waits for which `goes` is true. `wall_s`: what of the wall time depended on them.
    template <class Goes> double without(double wall_s, Goes goes) const {
        Removed removed;
        for (const Wait& wait : waits_)
            if (!is_for_others(wait.what.kind) && goes(wait))
                removed[{wait.process, wait.site->thread}] += wait.seconds;
        return replay(wall_s, removed);
    }

  private:
    using ThreadKey = std::pair<uint32_t, uint32_t>; // process, thread
    using Removed = std::map<ThreadKey, double>;
    double replay(double wall_s, const Removed& removed) const;
    void add_process(model::CallPaths& paths, uint32_t process);

    std::vector<Wait> waits_;
    std::map<ThreadKey, double> own_s_; // what each thread does without waiting for others
    double wall_s_ = 0, wall_scale_ = 0, cpu_bound_s_ = 0;
};

} // namespace plumb
