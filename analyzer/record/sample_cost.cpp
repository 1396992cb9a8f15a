#include "record/sample_cost.h"

#include "record/perf_ring.h"
#include "record/trace_file.h"

#include <algorithm>

namespace plumb::record {

namespace {

// The work is much shorter than a time slice, so that on a busy machine most repetitions are undisturbed. Samples that come
// faster than they can be taken cost more than they otherwise would (virtual machines: 25 to 100 us), so the period must
// be some times the cost.
constexpr uint64_t kShortestPeriod_ns = 50'000, kLongestPeriod_ns = 400'000;
constexpr uint64_t kPeriodsOfWork = 10, kCostsInPeriod = 2;
constexpr int kPairs = 20;

// Not inlined: two copies of so short a loop can differ by half of its time.
[[gnu::noinline]] uint64_t time_of_work(uint64_t rounds, uint64_t (*clock)()) {
    const uint64_t begin = clock();
    for (uint64_t i = 0; i < rounds; ++i)
        asm volatile("" : "+r"(i)); // the loop must stay
    return clock() - begin;
}

// With samples at this period; 0: could not be measured.
uint64_t cost_at(perf_event_attr event, uint64_t period_ns, uint64_t (*clock)()) {
    event.sample_period = period_ns;
    PerfRing ring;
    if (ring.open(event, 0, -1, 64) != 0)
        return 0;
    uint64_t rounds = 10'000;
    while (rounds < (uint64_t{1} << 40) && time_of_work(rounds, clock) < kPeriodsOfWork * period_ns)
        rounds *= 2;
    uint64_t without = UINT64_MAX, with = UINT64_MAX, samples = 0;
    for (int pair = 0; pair < kPairs; ++pair) {
        without = std::min(without, time_of_work(rounds, clock));
        ring.enable(true);
        const uint64_t time = time_of_work(rounds, clock);
        ring.enable(false);
        uint64_t taken = 0;
        ring.drain([&](const perf_event_header& header) { taken += header.type == PERF_RECORD_SAMPLE; });
        if (time < with) {
            with = time;
            samples = taken;
        }
    }
    return samples > 0 && with > without ? (with - without) / samples : 0;
}

} // namespace

uint64_t measure_sample_cost_ns(const perf_event_attr& attributes, uint64_t (*clock)()) {
    perf_event_attr event = attributes;
    event.inherit = event.enable_on_exec = 0;
    event.disabled = 1;
    event.mmap = event.mmap2 = event.build_id = event.comm = event.comm_exec = event.task = 0;
    uint64_t cost_ns = 0;
    for (uint64_t period_ns = kShortestPeriod_ns; period_ns <= kLongestPeriod_ns; period_ns *= 2) {
        cost_ns = cost_at(event, period_ns, clock);
        if (cost_ns * kCostsInPeriod <= period_ns)
            break;
    }
    return cost_ns;
}

} // namespace plumb::record
