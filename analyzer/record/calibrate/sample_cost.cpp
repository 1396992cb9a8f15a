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
constexpr unsigned kPairs = 6, kPairsToChoose = 3;

// A chain of multiplications, each of which waits for the one before: after an interrupt it goes on as before. A loop of
// few short instructions may run at another speed until the next interrupt, which costs as much as many samples.
[[gnu::noinline]] uint64_t time_of_work(uint64_t rounds) {
    const uint64_t begin = thread_cpu_ns();
    uint64_t value = rounds | 1;
    for (uint64_t i = 0; i < rounds; ++i)
        for (int step = 0; step < 8; ++step) {
            value *= value;
            asm volatile("" : "+r"(value)); // each must be made
        }
    return thread_cpu_ns() - begin;
}

class Trial {
  public:
    // Of samples at this period.
    Trial(perf_event_attr event, uint64_t period_ns) {
        event.sample_period = period_ns;
        works_ = ring_.open(event, 0, -1, 64) == 0;
        while (works_ && rounds_ < (uint64_t{1} << 40) && time_of_work(rounds_) < kPeriodsOfWork * period_ns)
            rounds_ *= 2;
    }

    bool works() const { return works_; }

    void run_pair() {
        without_ = std::min(without_, time_of_work(rounds_));
        ring_.enable(true);
        const uint64_t time = time_of_work(rounds_);
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
    PerfRing ring_;
    bool works_ = false;
    uint64_t rounds_ = 1'000, without_ = UINT64_MAX, with_ = UINT64_MAX, samples_ = 0;
    unsigned pairs_ = 0;
};

} // namespace

SampleCost measure_sample_cost(const perf_event_attr& attributes, uint64_t most_ns) {
    const uint64_t begin_ns = own_cpu_ns();
    const auto has_time = [&] { return own_cpu_ns() - begin_ns < most_ns; };
    perf_event_attr event = attributes;
    event.inherit = event.enable_on_exec = 0;
    event.disabled = 1;
    event.mmap = event.mmap2 = event.build_id = event.comm = event.comm_exec = event.task = 0;
    SampleCost cost;
    for (uint64_t period_ns = kShortestPeriod_ns; period_ns <= kLongestPeriod_ns && has_time(); period_ns *= 2) {
        Trial trial(event, period_ns);
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
