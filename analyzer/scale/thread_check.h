// Whether a command follows OMP_NUM_THREADS: a sweep over a variable that nobody reads measures nothing.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace plumb::scale {

class ThreadCheck {
  public:
    explicit ThreadCheck(size_t points) : points_(points) {}

    bool is_done() const { return counts_.size() == points_; }
    // After a run of a point with so many threads. Why the sweep is to end, or nothing.
    std::string saw(size_t point, size_t threads);

  private:
    size_t points_;
    std::map<size_t, size_t> counts_; // threads of a run of each point
};

} // namespace plumb::scale
