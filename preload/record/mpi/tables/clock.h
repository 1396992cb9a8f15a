// The clock of MPI calls: the processor's constant time stamp counter, or CLOCK_MONOTONIC where there is none.
//
// Reading the counter costs two thirds of reading the clock. What a tick is worth nobody asks here: MpiRank holds two moments
// in both, and readers convert.
#pragma once

#include "platform/os/hidden.h"
#include "record/process/trace_writer.h"

#include <stdint.h>

namespace plumb::shim::mpi {

extern bool counter_is_clock PLUMB_HIDDEN; // fixed before the first call is recorded

extern uint32_t clock_read_ticks PLUMB_HIDDEN;     // what reading it takes

inline uint64_t ticks() {
#if defined(__x86_64__)
    if (__builtin_expect(counter_is_clock, 1))
        return __builtin_ia32_rdtsc();
#endif
    return now_ns();
}

// Uses the counter if the processor says that it is constant, the kernel trusts it as its own clock source, and the
// process may read it. Once a process, and again in a forked child.
void choose_clock();

// One of these times 100 ms, within a factor of three on any machine that has the counter.
inline constexpr uint64_t kTicksOfTenthSecond = uint64_t{1} << 28;

} // namespace plumb::shim::mpi
