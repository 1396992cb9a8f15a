// What a measurement of noise comes to, on measurements made by hand.
#include "analyses/noise/bursts.h"
#include "analyses/noise/noise_summary.h"
#include "analyses/noise/process_losses.h"
#include "reports/words/noise_words.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <tuple>

using namespace plumb;
using Catch::Contains;
using Cause = model::MeasuredLoss::Cause;
using Kind = NoiseCulprit::Kind;

namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

model::MeasuredLoss loss(int cpu, Cause cause, uint64_t begin_ns, uint64_t length_ns, const char* name = "", uint32_t pid = 0) {
    return {cpu, cause, begin_ns, length_ns, pid, pid, name};
}

// 20 s on 2 CPUs. A daemon takes CPU 1 for 20 ms every 500 ms, in slices of 4 ms between which the program goes on for 4 ms; each
// CPU has an interrupt of 20 us every 4 ms.
model::Run noisy_run() {
    model::Run run;
    model::Host& host = run.hosts.emplace_back();
    host.name = "node1";
    for (int cpu = 0; cpu < 2; ++cpu) {
        model::MeasuredCpu& measured = host.noise.cpus.emplace_back();
        measured.cpu = cpu;
        measured.asked_ns = kMs;
        measured.quantum_ns = kMs;
        measured.begin_ns = kSecond;
        measured.end_ns = 21 * kSecond;
        measured.floor_ns = measured.least_ns = 200;
        measured.switches_seen = measured.names_seen = true;
        for (uint64_t tick = 0; tick < 5000; ++tick)
            host.noise.losses.push_back(loss(cpu, Cause::unknown, kSecond + tick * 4 * kMs + 1000, 20'000 + tick % 7 * 100));
        measured.lost_ns = 5000 * 20'300;
        host.interrupts.push_back({"LOC Local timer interrupts", cpu, 5004});
        host.interrupts.push_back({"24 disk", cpu, 900});
    }
    for (uint64_t event = 0; event < 40; ++event)
        for (uint64_t slice = 0; slice < 5; ++slice)
            host.noise.losses.push_back(loss(1, Cause::process, kSecond + event * 500 * kMs + slice * 8 * kMs + 10 * kMs, 4 * kMs, "monitord", 77));
    std::ranges::stable_sort(host.noise.losses, [](const auto& left, const auto& right) {
        return std::tie(left.cpu, left.begin_ns) < std::tie(right.cpu, right.begin_ns);
    });
    host.noise.cpus[1].preempted_ns = 40 * 20 * kMs;
    host.noise.cpus[1].preempted_count = 200;
    host.noise.cpus[1].lost_ns += 40 * 20 * kMs;
    return run;
}

} // namespace

TEST_CASE("Slices of a process that take turns with the program are one event, also where many others take theirs") {
    model::MeasuredNoise noise;
    std::vector<model::MeasuredLoss>& losses = noise.losses;
    for (const uint64_t begin_ms : {0, 8, 16, 500, 508})
        losses.push_back(loss(0, Cause::process, begin_ms * kMs, 4 * kMs, "a", 1));
    std::vector<const model::MeasuredLoss*> pointers;
    for (const model::MeasuredLoss& one : losses)
        pointers.push_back(&one);
    const std::vector<NoiseBurst> bursts = bursts_of(pointers, ProgramTime(noise));
    REQUIRE(bursts.size() == 2);
    CHECK(bursts[0].length_ns == 12 * kMs);
    CHECK(bursts[1].begin_ns == 500 * kMs);
    CHECK(bursts[1].length_ns == 8 * kMs);

    model::MeasuredNoise busy; // ten others take the CPU between two slices, and the program once
    for (const uint64_t begin_ms : {0, 48, 96}) {
        busy.losses.push_back(loss(0, Cause::process, begin_ms * kMs, 4 * kMs, "a", 1));
        busy.losses.push_back(loss(0, Cause::process, (begin_ms + 4) * kMs, 40 * kMs, "b", 2));
    }
    const std::vector<const model::MeasuredLoss*> own{&busy.losses[0], &busy.losses[2], &busy.losses[4]};
    const std::vector<NoiseBurst> one = bursts_of(own, ProgramTime(busy));
    REQUIRE(one.size() == 1);
    CHECK(one[0].length_ns == 12 * kMs);
    CHECK(ProgramTime(busy).between_ns(0, 4 * kMs, 48 * kMs) == 4 * kMs);
}

TEST_CASE("The rhythm of events survives a few that were missed, and is none where there is none") {
    std::vector<NoiseBurst> bursts;
    for (uint64_t i = 0; i < 20; ++i)
        if (i != 7 && i != 13)
            bursts.push_back({0, i * 250 * kMs, i * 250 * kMs + 2 * kMs, 2 * kMs});
    const BurstRhythm rhythm = rhythm_of(bursts);
    CHECK(rhythm.is_regular);
    CHECK(rhythm.period_s == Approx(0.25));
    CHECK(rhythm.mean_s == Approx(0.002));
    CHECK(rhythm.spread_s == Approx(0).margin(1e-9));
    std::vector<NoiseBurst> irregular;
    uint64_t at_ns = 0;
    for (uint64_t i = 0; i < 20; ++i) {
        at_ns += (1 + i * i * 7919 % 97) * 10 * kMs;
        irregular.push_back({0, at_ns, at_ns + kMs, kMs});
    }
    CHECK_FALSE(rhythm_of(irregular).is_regular);
    CHECK(rhythm_of({}).period_s == 0);
}

TEST_CASE("Kernel threads of one kind are one process, programs are not touched") {
    CHECK(process_group("kworker/0:1-events") == "kworker");
    CHECK(process_group("cc1plus") == "cc1plus");
    CHECK(process_group("/bin/odd") == "/bin/odd");
}

TEST_CASE("A daemon is named with its period and length, and losses of nobody stay unknown") {
    const model::Run run = noisy_run();
    const NoiseSummary noise = summarise_noise(run);
    CHECK(noise.measured_s == Approx(40));
    CHECK(noise.fraction() == Approx((0.8 + 2 * 5000 * 20.3e-6) / 40));
    REQUIRE(!noise.culprits.empty());
    const NoiseCulprit& daemon = noise.culprits.front();
    CHECK(daemon.kind == Kind::process);
    CHECK(daemon.name == "monitord");
    CHECK(daemon.events == 40);
    CHECK(daemon.is_regular);
    CHECK(daemon.period_s == Approx(0.5));
    CHECK(daemon.length_s == Approx(0.02));
    CHECK(daemon.cpus == std::vector<int>{1});
    double shares = 0;
    for (const NoiseCulprit& culprit : noise.culprits)
        shares += culprit.share;
    CHECK(shares == Approx(1).epsilon(0.001));
    CHECK_THAT(noise_verdict(noise), Contains("monitord") && Contains("not known"));

    const auto of_group = [&](const std::string& group) {
        for (const model::NoiseClass& one : noise.machine.classes)
            if (one.group == group)
                return one;
        return model::NoiseClass{};
    };
    const model::NoiseClass daemons = of_group("monitord"), timer = of_group("LOC Local timer interrupts");
    CHECK(daemons.mean_period_s() == Approx(0.5).epsilon(0.02));
    CHECK(daemons.duration.mean_s == Approx(0.02).epsilon(0.05));
    CHECK(timer.mean_period_s() == Approx(0.004).epsilon(0.02));
    CHECK(timer.duration.mean_s == Approx(20.3e-6).epsilon(0.05));
}

TEST_CASE("An event that the begin of the measurement cuts is no shorter event, and its time is counted") {
    model::Run run = noisy_run();
    const auto daemon = [&] {
        for (const NoiseCulprit& culprit : summarise_noise(run).culprits)
            if (culprit.name == "monitord")
                return culprit;
        return NoiseCulprit{};
    };
    std::vector<model::MeasuredLoss>& losses = run.hosts[0].noise.losses;
    std::erase_if(losses, [](const model::MeasuredLoss& one) { // three of the five slices of its first event
        return one.cause == Cause::process && one.begin_ns < kSecond + 30 * kMs;
    });
    CHECK(daemon().events == 39);
    CHECK(daemon().length_s == Approx(0.02));
    CHECK(daemon().lost_s == Approx(39 * 0.02 + 0.008));
    const auto place = std::ranges::find_if(losses, [](const model::MeasuredLoss& one) {
        return one.cpu == 1 && one.begin_ns > kSecond + 250 * kMs;
    });
    losses.insert(place, loss(1, Cause::process, kSecond + 250 * kMs, 3 * kMs, "monitord", 77)); // not at the begin: one of its own
    CHECK(daemon().events == 40);
    CHECK(daemon().length_s < 0.0197);
}

TEST_CASE("A softirq has a class of losses where no interrupt comes as often") {
    model::Run run = noisy_run();
    const auto timer_class = [&] {
        for (const model::NoiseClass& one : summarise_noise(run).machine.classes)
            if (std::abs(one.mean_period_s() - 0.004) < 0.0002)
                return one.group;
        return std::string("none");
    };
    for (int cpu = 0; cpu < 2; ++cpu) {
        run.hosts[0].interrupts.push_back({"softirq TIMER", cpu, 5000});
        run.hosts[0].interrupts.push_back({"softirq RCU", cpu, 900});
    }
    CHECK(timer_class() == "LOC Local timer interrupts");
    std::erase_if(run.hosts[0].interrupts, [](const auto& source) { return source.name.starts_with("LOC"); });
    CHECK(timer_class() == "softirq TIMER");
    for (int cpu = 0; cpu < 2; ++cpu)
        run.hosts[0].interrupts.push_back({"softirq SCHED", cpu, 5010});
    CHECK(timer_class().empty());
}

TEST_CASE("How often and for how long a process ran is not said where only the sum is known") {
    model::Run run = noisy_run();
    std::vector<model::MeasuredLoss>& losses = run.hosts[0].noise.losses;
    const auto daemon = [&] {
        for (const NoiseCulprit& culprit : summarise_noise(run).culprits)
            if (culprit.name == "monitord")
                return culprit;
        return NoiseCulprit{};
    };
    SECTION("a little of its time may have been any of the short losses") {
        for (model::MeasuredLoss& one : losses)
            if (one.cpu == 1 && one.cause == Cause::unknown && one.begin_ns < kSecond + 400 * kMs)
                one = loss(1, Cause::process_sometime, one.begin_ns, one.length_ns, "monitord", 77);
        CHECK(daemon().events == 40);
        CHECK(daemon().length_s == Approx(0.02).epsilon(0.005));
        CHECK(daemon().lost_s == Approx(0.8 + 100 * 20.3e-6));
    }
    SECTION("half of it") {
        for (model::MeasuredLoss& one : losses)
            if (one.cause == Cause::process && one.begin_ns < 11 * kSecond)
                one.cause = Cause::process_sometime;
        CHECK(daemon().lost_s == Approx(0.8));
        CHECK(daemon().events == 0);
        CHECK(daemon().cpus == std::vector<int>{1});
        CHECK(culprit_rhythm(daemon(), 1) == "not known how often, CPU 1");
    }
}

TEST_CASE("Steal time explains losses of nobody, and no more than there are") {
    model::Run run = noisy_run();
    run.hosts[0].cpu_intervals.push_back({.cpu = 0, .begin_ns = kSecond, .end_ns = 21 * kSecond, .steal_ns = 60 * kMs});
    run.hosts[0].cpu_intervals.push_back({.cpu = 1, .begin_ns = kSecond, .end_ns = 21 * kSecond, .steal_ns = 5 * kSecond});
    const NoiseSummary noise = summarise_noise(run);
    double steal_s = 0, unknown_s = 0;
    for (const NoiseCulprit& culprit : noise.culprits) {
        steal_s += culprit.kind == Kind::steal ? culprit.lost_s : 0;
        unknown_s += culprit.kind == Kind::unknown ? culprit.lost_s : 0;
    }
    CHECK(steal_s == Approx(0.06 + 5000 * 20.3e-6));
    CHECK(steal_s + unknown_s == Approx(2 * 5000 * 20.3e-6));
}
