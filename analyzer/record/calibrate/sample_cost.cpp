#include "record/calibrate/sample_cost.h"

#include "record/perf/perf_ring.h"
#include "record/run/node_trace_writer.h"

#include <algorithm>

namespace plumb::record {

namespace {

// The work is much shorter than a time slice, so that on a busy machine most repetitions are undisturbed. Samples that come
// faster than they can be taken cost more than they otherwise would (virtual machines: 25 to 100 us), so the period must
// be some times the cost.
constexpr uint64_t kShortestPeriod_ns = 50'000, kLongestPeriod_ns = 400'000;
constexpr uint64_t kPeriodsOfWork = 10, kCostsInPeriod = 2;
constexpr unsigned kPairs = 20, kPairsToChoose = 3;

// Not inlined: two copies of so short a loop can differ by half of its time.
[[gnu::noinline]] uint64_t time_of_work(uint64_t rounds, uint64_t (*clock)()) {
    const uint64_t begin = clock();
    for (uint64_t i = 0; i < rounds; ++i)
        asm volatile("" : "+r"(i)); // the loop must stay
    return clock() - begin;
}

class Trial {
  public:
    // Of samples at this period.
    Trial(perf_event_attr event, uint64_t period_ns, uint64_t (*clock)()) : clock_(clock) {
        event.sample_period = period_ns;
        works_ = ring_.open(event, 0, -1, 64) == 0;
        while (works_ && rounds_ < (uint64_t{1} << 40) && time_of_work(rounds_, clock_) < kPeriodsOfWork * period_ns)
            rounds_ *= 2;
    }

    bool works() const { return works_; }

    void run_pair() {
        without_ = std::min(without_, time_of_work(rounds_, clock_));
        ring_.enable(true);
        const uint64_t time = time_of_work(rounds_, clock_);
        ring_.enable(false);
        uint64_t taken = 0;
        ring_.drain([&](const perf_event_header& header) { taken += header.type == PERF_RECORD_SAMPLE; });
        if (time < with_) {
            with_ = time;
            samples_ = taken;
        }
        ++pairs_;
    }

    SampleCost cost() const { return {samples_ > 0 && with_ > without_ ? (with_ - without_) / samples_ : 0, pairs_}; }

  private:
    uint64_t (*const clock_)();
    PerfRing ring_;
    bool works_ = false;
    uint64_t rounds_ = 10'000, without_ = UINT64_MAX, with_ = UINT64_MAX, samples_ = 0;
    unsigned pairs_ = 0;
};

} // namespace

SampleCost measure_sample_cost(const perf_event_attr& attributes, uint64_t most_ns, uint64_t (*clock)()) {
    const uint64_t begin_ns = own_cpu_ns();
    const auto has_time = [&] { return own_cpu_ns() - begin_ns < most_ns; };
    perf_event_attr event = attributes;
    event.inherit = event.enable_on_exec = 0;
    event.disabled = 1;
    event.mmap = event.mmap2 = event.build_id = event.comm = event.comm_exec = event.task = 0;
    SampleCost cost;
    for (uint64_t period_ns = kShortestPeriod_ns; period_ns <= kLongestPeriod_ns && has_time(); period_ns *= 2) {
        Trial trial(event, period_ns, clock);
        if (!trial.works())
            break;
        const auto is_too_short = [&] { return trial.cost().ns * kCostsInPeriod > period_ns; };
        for (unsigned pair = 0; pair < kPairs && has_time(); ++pair) {
            trial.run_pair();
            if (pair + 1 == kPairsToChoose && is_too_short() && period_ns < kLongestPeriod_ns)
                break;
        }
        cost = trial.cost();
        if (!is_too_short())
            break;
    }
    return cost;
}

} // namespace plumb::record
