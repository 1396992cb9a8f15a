// For how long one thread was runnable without a CPU, over any stretch of time.
#pragma once

#include "model/run.h"
#include "replay/clock.h"

#include <vector>

namespace plumb::replay {

class RunDelay {
  public:
    // Of threads[thread] (none: no delay), in times of `run`. Within an interval the delay is taken as spread evenly.
    RunDelay(const model::Run& run, const std::vector<model::Thread>& threads, size_t thread);

    Nanoseconds between(Nanoseconds begin, Nanoseconds end) const { return until(end) - until(begin); }

    // The part of the intervals in which it had to wait noticeably.
    double share_of_intervals() const { return share_; }

  private:
    struct Point {
        Nanoseconds moment, sum;
    };
    Nanoseconds until(Nanoseconds moment) const;

    std::vector<Point> points_; // by moment
    double share_ = 0;
};

} // namespace plumb::replay
