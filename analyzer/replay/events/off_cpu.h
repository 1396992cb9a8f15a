// For how long one thread did not run, over any stretch of time: runnable without a CPU (run delay), or asleep.
#pragma once

#include "model/run.h"
#include "replay/events/clock.h"

#include <vector>

namespace plumb::replay {

class OffCpu {
  public:
    // Of a thread of `process` (none: it is taken to run always), in times of `run`. Within an interval both are taken as spread
    // evenly; where MPI_Init ended in it or MPI_Finalize began, as much of them as can be lies on the other side, where ranks wait
    // for one another in ways that are not seen. What lies there is left out.
    OffCpu(const model::Run& run, const model::Process& process, size_t thread);

    Nanoseconds delayed(Nanoseconds begin, Nanoseconds end) const { return until(end).delayed - until(begin).delayed; }
    Nanoseconds asleep(Nanoseconds begin, Nanoseconds end) const { return until(end).asleep - until(begin).asleep; }

    Nanoseconds delayed() const { return points_.empty() ? 0 : points_.back().sums.delayed; }
    Nanoseconds asleep() const { return points_.empty() ? 0 : points_.back().sums.asleep; }

    // The part of the intervals in which it had to wait noticeably for a CPU.
    double delayed_intervals() const { return delayed_intervals_; }

  private:
    struct Sums {
        Nanoseconds delayed = 0, asleep = 0;
    };
    struct Point {
        Nanoseconds moment;
        Sums sums;
    };
    Sums until(Nanoseconds moment) const;

    std::vector<Point> points_; // by moment
    double delayed_intervals_ = 0;
};

} // namespace plumb::replay
