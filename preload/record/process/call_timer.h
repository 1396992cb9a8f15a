// How long a call was blocked.
//
// What counts as waiting for the allocator's locks is wall time of a call in which the thread gave up its CPU of its
// own accord (its count of voluntary context switches rose): a futex wait, or waiting for the kernel's lock on the
// address space. Slow calls that went on computing, page faults and being preempted by others do not count, nor
// does spinning. Signal-safe; 0.3 us a timed call, so that only few are.
//
// The sum over the timed calls is a lower bound and is recorded as that. It is not scaled up: blocking comes in rare
// bursts (a preempted holder stops everybody), and a timed call is more likely to be hit by one than others are.
#pragma once

#include "platform/os/system_call.h"
#include "record/process/trace_writer.h"

#include <sys/resource.h>

namespace plumb::shim {

class CallTimer {
  public:
    void start() {
        switches_ = voluntary_switches();
        start_ns_ = now_ns();
    }
    bool started() const { return start_ns_ != 0; }

    // 0 unless the call was blocked.
    uint64_t blocked_ns() const {
        const uint64_t elapsed_ns = now_ns() - start_ns_;
        if (elapsed_ns < kShortestBlockNs || voluntary_switches() == switches_)
            return 0;
        return elapsed_ns;
    }

  private:
    static constexpr uint64_t kShortestBlockNs = 1000; // two context switches take longer

    static long voluntary_switches() {
        rusage usage;
        return system_call(SYS_getrusage, RUSAGE_THREAD, word(&usage)) == 0 ? usage.ru_nvcsw : 0;
    }

    uint64_t start_ns_ = 0;
    long switches_ = 0;
};

} // namespace plumb::shim
