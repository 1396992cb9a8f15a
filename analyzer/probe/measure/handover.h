// How long a cache line takes from one CPU to another.
#pragma once

#include "support/xorshift.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::probe {

// Two threads, one on each CPU, call answer() and ask() at the same time. Where one of them does not get its CPU, both give up
// at their end.
class Handover {
  public:
    // Nanoseconds from one CPU to the other: the median of short series; NaN: the two hardly ran at the same time.
    double ask(uint64_t length_ns);
    void answer(uint64_t length_ns);

  private:
    alignas(128) std::atomic<uint64_t> ball_{0}; // odd: it is the answering thread's turn
    alignas(128) std::atomic<bool> is_over_{false};
};

// How long it takes depends on the line: each has its home in some part of the last cache.
class HandoverLines {
  public:
    Handover& draw(); // one by another line, chosen by chance; it takes the place of the one before

  private:
    alignas(Handover) std::array<std::byte, 1024 * sizeof(Handover)> memory_;
    Xorshift random_;
};

} // namespace plumb::probe
