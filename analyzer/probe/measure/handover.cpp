#include "probe/measure/handover.h"

#include "probe/measured.h"
#include "record/run/node_trace_writer.h"
#include "support/median.h"

#include <new>
#include <type_traits>

namespace plumb::probe {

namespace {
constexpr uint64_t kTripsASeries = 100, kSpinsALook = 256;
constexpr size_t kFewestSeries = 20;
constexpr uint64_t kLongestSeries_ns = 1'000'000; // in a longer one, a thread was off its CPU
} // namespace

double Handover::ask(uint64_t length_ns) {
    std::vector<double> series_ns;
    const uint64_t end_ns = record::monotonic_ns() + length_ns;
    uint64_t ball = ball_.load();
    for (uint64_t now_ns = record::monotonic_ns(); now_ns < end_ns;) {
        const uint64_t begin_ns = now_ns;
        uint64_t trips = 0;
        for (bool is_late = false; trips < kTripsASeries && !is_late; ++trips) {
            ball_.store(ball + 1, std::memory_order_release);
            for (uint64_t spins = 0; ball_.load(std::memory_order_acquire) != ball + 2;)
                if (++spins % kSpinsALook == 0 && record::monotonic_ns() > end_ns) {
                    is_late = true;
                    break;
                }
            ball += is_late ? 0 : 2;
        }
        now_ns = record::monotonic_ns();
        if (trips == kTripsASeries && now_ns - begin_ns < kLongestSeries_ns)
            series_ns.push_back(static_cast<double>(now_ns - begin_ns) / static_cast<double>(2 * kTripsASeries));
    }
    is_over_.store(true);
    return series_ns.size() < kFewestSeries ? kNotMeasured : upper_median(series_ns);
}

void Handover::answer(uint64_t length_ns) {
    const uint64_t end_ns = record::monotonic_ns() + 2 * length_ns;
    for (uint64_t spins = 0; !is_over_.load(std::memory_order_relaxed);) {
        const uint64_t ball = ball_.load(std::memory_order_acquire);
        if (ball % 2)
            ball_.store(ball + 1, std::memory_order_release);
        else if (++spins % kSpinsALook == 0 && record::monotonic_ns() > end_ns)
            break;
    }
}

Handover& HandoverLines::draw() {
    static_assert(std::is_trivially_destructible_v<Handover>);
    const uint64_t place = (random_.next() >> 32) % (memory_.size() / sizeof(Handover));
    return *new (memory_.data() + place * sizeof(Handover)) Handover;
}

} // namespace plumb::probe
