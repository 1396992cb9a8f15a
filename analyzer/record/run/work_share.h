// Keeps work that can be left undone below its share of the run's time, so that a program which always gives more of it
// does not raise the cost of recording.
#pragma once

#include "record/run/node_trace_writer.h"

#include <cstdint>

namespace plumb::record {

class WorkShare {
  public:
    // `share`: of the time since the first call; `head_start_ns`: what may be spent at once.
    WorkShare(double share, uint64_t head_start_ns) : share_(share), head_start_ns_(head_start_ns) {}

    // `now_ns`: of any clock that goes on with the run.
    bool has_room(uint64_t now_ns) { return spent_ns_ < allowed_ns(now_ns); }
    bool is_short(uint64_t now_ns) { return spent_ns_ > allowed_ns(now_ns) / 2; } // time to be choosy

    // Does the work, and counts the CPU time of this thread for it. 0.5 us more than the work.
    template <class Work> auto spend(Work work) {
        struct Count { // also when the work throws
            uint64_t& spent_ns;
            const uint64_t before_ns = thread_cpu_ns();
            ~Count() { spent_ns += thread_cpu_ns() - before_ns; }
        } const count{spent_ns_};
        return work();
    }

    uint64_t spent_ns() const { return spent_ns_; }

  private:
    uint64_t allowed_ns(uint64_t now_ns) {
        if (begin_ns_ == 0)
            begin_ns_ = now_ns;
        const double since_ns = now_ns > begin_ns_ ? static_cast<double>(now_ns - begin_ns_) : 0;
        return head_start_ns_ + static_cast<uint64_t>(since_ns * share_);
    }

    const double share_;
    const uint64_t head_start_ns_;
    uint64_t begin_ns_ = 0, spent_ns_ = 0;
};

} // namespace plumb::record
