// How much of a call of sched_yield time samples show that are taken outside of the kernel alone.
#pragma once

#include <cstdint>

namespace plumb::record {

struct YieldSamples {
    uint64_t in_call = 0, in_caller = 0; // samples outside of the kernel
    uint64_t period_ns = 0, all_ns = 0;  // CPU time, the kernel's included

    bool are_enough() const { return in_call >= 300; } // to be right by some 6 %
    // Time in the kernel of a call, in thousandths of the time that samples show in the function that makes it: few, mostly at the
    // instruction behind the system call, where the kernel lets interrupts in again. 0: too few samples to tell.
    uint64_t kernel_milli() const;
};

// Adds samples of the calling thread, which yields for at most `most_ns` of CPU time, until they are enough.
void add_yield_samples(uint64_t most_ns, YieldSamples& samples);

} // namespace plumb::record
