// What one CPU lost, from the durations of its quanta.
#include "record/noise/loss_log.h"

#include "support/xorshift.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace plumb::record;
using plumb::trace::NoiseCause;

namespace {

constexpr uint64_t kBegin_ns = 5'000'000'000, kQuantum_ns = 1'000'000;

// Undisturbed quanta, which differ by up to 40 ns.
uint64_t undisturbed_ns(size_t number) { return kQuantum_ns + number * 7919 % 41; }

Absence absence(uint64_t begin_ns, uint64_t length_ns, uint32_t tid) {
    return {begin_ns, begin_ns + length_ns, {{tid, tid, begin_ns, begin_ns + length_ns, 0}}};
}

} // namespace

TEST_CASE("Bins of losses follow one another without a gap, by half octaves") {
    CHECK(noise_bin(0) == 0);
    CHECK(noise_bin(127) == 0);
    CHECK(noise_bin(128) == 1);
    for (size_t bin = 1; bin + 1 < plumb::trace::kNoiseBins; ++bin) {
        INFO("bin " << bin);
        CHECK(noise_bin(noise_bin_begin_ns(bin)) == bin);
        CHECK(noise_bin(noise_bin_begin_ns(bin + 1) - 1) == bin);
        const double ratio = static_cast<double>(noise_bin_begin_ns(bin + 1)) / static_cast<double>(noise_bin_begin_ns(bin));
        CHECK(ratio == Approx(std::sqrt(2.0)).epsilon(0.01));
    }
    CHECK(noise_bin(UINT64_MAX) == plumb::trace::kNoiseBins - 1);
}

TEST_CASE("The base is what the fastest quanta take, and the floor what undisturbed ones differ by") {
    std::vector<uint64_t> durations_ns;
    for (size_t i = 0; i < 5000; ++i)
        durations_ns.push_back(undisturbed_ns(i) + (i % 4 != 0 ? 25'000 + i % 1000 : 0)); // three in four have an interrupt
    const QuantumBase base = base_of(durations_ns);
    CHECK(base.quantum_ns <= kQuantum_ns + 2);
    CHECK(base.quantum_ns >= kQuantum_ns);
    CHECK(base.floor_ns < 200);
    CHECK(base.floor_ns >= 100);

    SECTION("one quantum that is too fast does not count") {
        durations_ns.push_back(kQuantum_ns / 2);
        CHECK(base_of(durations_ns).quantum_ns >= kQuantum_ns);
    }
    SECTION("a machine whose quanta differ by more has a higher floor") {
        for (size_t i = 0; i < durations_ns.size(); ++i)
            durations_ns[i] += i * 7919 % 2503 + i * 104'729 % 2503; // around 2.5 us
        const uint64_t floor_ns = base_of(durations_ns).floor_ns;
        CHECK(floor_ns > 4000);
        CHECK(floor_ns < 15'000); // not what the interrupts take
    }
    CHECK(base_of({7}).quantum_ns == 7);
    CHECK(base_of({9, 7}).quantum_ns == 9);
}

TEST_CASE("A loss log sums up what was lost, and to whom") {
    LossLog log(kBegin_ns, {});
    uint64_t now_ns = kBegin_ns, lost_ns = 0;
    for (size_t i = 0; i < 2000; ++i) {
        uint64_t duration_ns = undisturbed_ns(i), own_ns = 0;
        std::vector<Absence> absences;
        if (i % 100 == 50) { // somebody had the CPU
            absences.push_back(absence(now_ns + 1000, 3'000'000, 77));
            duration_ns += 3'000'000;
            lost_ns += 3'000'000;
        }
        if (i % 100 == 70) { // its cause is not known
            duration_ns += 20'000;
            lost_ns += 20'000;
        }
        if (i % 100 == 90) { // the recorder
            own_ns = 400'000;
            duration_ns += own_ns;
        }
        log.quantum(duration_ns, own_ns, std::move(absences));
        now_ns += duration_ns;
    }
    log.settle();
    CHECK(log.totals.quanta == 2000);
    CHECK(log.totals.begin_ns == kBegin_ns);
    CHECK(log.totals.end_ns == now_ns);
    CHECK(log.totals.own_ns == 20 * 400'000);
    CHECK(log.totals.preempted_ns == 20 * 3'000'000);
    CHECK(log.totals.preempted_count == 20);
    CHECK(log.totals.slow_ns == 0);
    CHECK(static_cast<double>(log.totals.lost_ns) == Approx(static_cast<double>(lost_ns)).epsilon(0.01));
    CHECK(log.totals.lost_ns - log.totals.preempted_ns - log.totals.small_ns == Approx(20 * 20'000).epsilon(0.01));
    CHECK(std::accumulate(std::begin(log.totals.counts), std::end(log.totals.counts), uint64_t{0}) == 2000);
    CHECK(std::accumulate(std::begin(log.totals.times_ns), std::end(log.totals.times_ns), uint64_t{0}) == log.totals.lost_ns);
    size_t named = 0, unknown = 0;
    for (const LostTime& loss : log.losses()) {
        named += loss.cause == NoiseCause::process && loss.tid == 77 && loss.length_ns == 3'000'000;
        unknown += loss.cause == NoiseCause::unknown && loss.length_ns > 19'000 && loss.length_ns < 21'000;
    }
    CHECK(named == 20);
    CHECK(unknown == 20);
    const uint64_t in_series_ns = std::accumulate(log.series_ns.begin(), log.series_ns.end(), uint64_t{0});
    CHECK(static_cast<double>(in_series_ns) == Approx(static_cast<double>(log.totals.lost_ns)).epsilon(0.001));
}

TEST_CASE("A CPU that is slower for a while has lost nothing to anybody") {
    LossLog log(kBegin_ns, {});
    for (size_t i = 0; i < 4000; ++i)
        log.quantum(i >= 1600 && i < 2400 ? undisturbed_ns(i) * 5 / 4 : undisturbed_ns(i), 0, {});
    log.settle();
    CHECK(static_cast<double>(log.totals.slow_ns) == Approx(800 * 250'000.0).epsilon(0.01));
    CHECK(log.totals.lost_ns - log.totals.slow_ns - log.totals.small_ns < 800 * 100);
}

TEST_CASE("The memory of a loss log is bounded, and what is left out is counted") {
    LossLog log(kBegin_ns, {.losses = 1000, .unsettled = 512, .interval_ns = 1'000'000, .intervals = 64});
    plumb::Xorshift random(7);
    double lost_ns = 0;
    for (size_t i = 0; i < 200'000; ++i) {
        const uint64_t loss_ns = i % 3 == 0 ? 1000 + random.next() % 1'000'000 : 0;
        lost_ns += static_cast<double>(loss_ns);
        log.quantum(undisturbed_ns(i) + loss_ns, 0, {});
    }
    log.settle();
    CHECK(log.losses().size() <= 1032);
    CHECK(log.losses().size() > 300);
    CHECK(log.series_ns.size() <= 64);
    double kept_ns = 0;
    for (const LostTime& loss : log.losses()) {
        CHECK(loss.length_ns >= log.totals.least_ns);
        kept_ns += static_cast<double>(loss.length_ns);
    }
    CHECK(kept_ns + static_cast<double>(log.totals.left_out_ns) == Approx(lost_ns).epsilon(0.01));
    CHECK(static_cast<double>(log.totals.lost_ns) == Approx(lost_ns).epsilon(0.01));
}
