// How densely a run is sampled. The first seconds are sampled at the full rate: short programs have nothing else. What runs
// longer has samples enough, and each of them costs the same, so it goes on with fewer a second. But a thread is not sampled
// before its first period is over: where threads and processes begin all the time, long periods would miss most of them.
#pragma once

#include <cstdint>

namespace plumb::record {

class SamplingRate {
  public:
    explicit SamplingRate(uint64_t begin_ns) : begin_ns_(begin_ns), last_ns_(begin_ns) {}

    // Once a tick; `begun`: threads and processes since the run began. Returns whether the slower rate is the right one now.
    bool look(uint64_t now_ns, uint64_t begun);

  private:
    const uint64_t begin_ns_;
    uint64_t last_ns_, last_begun_ = 0;
    bool is_slow_ = false;
};

} // namespace plumb::record
