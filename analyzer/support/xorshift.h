// Random numbers for choices that must not be in step with a program: the same ones in every run.
#pragma once

#include <cstdint>

namespace plumb {

// Marsaglia's xorshift with 64 bits (Journal of Statistical Software 8 (14), 2003). Not thread-safe.
class Xorshift {
  public:
    explicit Xorshift(uint64_t seed = 0x9e3779b97f4a7c15u) : state_(seed) {} // not 0

    uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

  private:
    uint64_t state_;
};

} // namespace plumb
