// How far a series of runs is, for who waits for it.
#pragma once

#include <chrono>
#include <cstddef>

namespace plumb {

// On a terminal, one line that is written over; else nothing. What repeat::record_series() calls.
class SeriesProgress {
  public:
    SeriesProgress();
    void operator()(size_t done, size_t all) const;

  private:
    bool is_terminal_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace plumb
