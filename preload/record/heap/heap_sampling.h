// The arithmetic of byte sampling.
//
// Sampled bytes form a Poisson process along the stream of allocated bytes: the distance from one to the next is
// exponential with the given mean, whatever the sizes are. An allocation of s bytes is seen when at least one of its
// bytes is sampled, with probability p = 1 - exp(-s/mean); counted as 1/p allocations it makes every sum over
// allocations unbiased. The shim does not link libm, so the two functions needed are computed here, to 1e-10.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// Small, fast and good enough for sampling: splitmix64. `state` is any number; each thread has its own.
uint64_t next_random(uint64_t* state);

// A distance to the next sampled byte, at least 1.
uint64_t sampling_distance(uint64_t* random, uint64_t mean_bytes);

// 1/p, rounded up or down at random so that its expectation is exact. At least 1.
uint64_t sampling_weight(uint64_t* random, uint64_t bytes, uint64_t mean_bytes);

// The mean of one thread. Where it allocates so fast that samples would cost much, the mean grows: a sample's weight follows
// from the mean that was in force when it was taken, so that the sums stay unbiased. The owning thread's own; signal-safe.
class SamplingPace {
  public:
    void begin(uint64_t least_mean_bytes, bool is_fixed); // fixed: the mean was asked for
    uint64_t mean_bytes() const { return mean_bytes_; }

    void sampled(uint64_t now_ns); // one more: chooses the mean of what follows

  private:
    uint64_t mean_bytes_, least_bytes_, begin_ns_;
    uint32_t samples_; // since then
    bool is_fixed_;
};

} // namespace plumb::shim
