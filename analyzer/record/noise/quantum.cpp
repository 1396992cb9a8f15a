#include "record/noise/quantum.h"

#include "record/run/node_trace_writer.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr int kTries = 400;
constexpr uint64_t kTryRounds = 20'000; // some ten microseconds: shorter than the time between two timer interrupts

} // namespace

// Never inlined: the quanta then run the very code that was timed.
[[gnu::noinline]] uint64_t do_work(uint64_t rounds, uint64_t value) {
    for (; rounds > 0; --rounds) {
        value = value * 6364136223846793005u + 1442695040888963407u; // a linear congruential generator (Knuth's MMIX)
        asm volatile("" : "+r"(value)); // no round is left out or done together with another
    }
    return value;
}

uint64_t rounds_for(uint64_t quantum_ns) {
    uint64_t fastest_ns = UINT64_MAX, value = 1;
    for (int i = 0; i < kTries; ++i) {
        const uint64_t begin_ns = monotonic_ns();
        value = do_work(kTryRounds, value);
        fastest_ns = std::min(fastest_ns, monotonic_ns() - begin_ns);
    }
    const double rounds = static_cast<double>(quantum_ns) * kTryRounds / static_cast<double>(std::max<uint64_t>(fastest_ns, 1));
    return std::max<uint64_t>(static_cast<uint64_t>(rounds), 1);
}

} // namespace plumb::record
