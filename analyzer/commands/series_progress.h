// How far a series of runs is, for who waits for it.
#pragma once

#include "commands/progress_line.h"

#include <chrono>
#include <cstddef>

namespace plumb {

// What repeat::record_series() calls.
class SeriesProgress {
  public:
    void operator()(size_t done, size_t all) const;

  private:
    ProgressLine line_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace plumb
