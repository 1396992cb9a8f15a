// Simulated jobs against what can be worked out.
#include "simulate/noise_machines.h"
#include "simulate/simulate_job.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace plumb;
using namespace plumb::simulate;
using model::NoiseClass;

namespace {

model::NoiseMachine machine_of(NoiseClass one) {
    return {"", 0, 0, {std::move(one)}};
}

NoiseClass poisson(NoiseClass one) {
    one.regularity = NoiseClass::Regularity::poisson;
    return one;
}

NoiseClass on_each_cpu(NoiseClass one) {
    one.scope = NoiseClass::Scope::cpu;
    return one;
}

} // namespace

TEST_CASE("without noise a cycle is the work and the collective") {
    auto job = job_of(64, 4, 0.001, 1000);
    job.per_hop_s = 1e-5;
    for (const auto& [collective, steps] :
         {std::pair{Collective::barrier, 6}, {Collective::allreduce, 6}, {Collective::halo3, 1}}) {
        job.collective = collective;
        const auto outcome = simulate_job(job, {}, 1);
        CHECK(outcome.total_s == Approx(1000 * (0.001 + steps * 1e-5)));
        CHECK(outcome.quiet_s == Approx(outcome.total_s));
    }
    job.ranks = 65; // one step more to reach it; recursive doubling folds it in and out
    job.collective = Collective::barrier;
    CHECK(collective_cost_s(job) == Approx(7e-5));
    job.collective = Collective::allreduce;
    CHECK(collective_cost_s(job) == Approx(8e-5));
    job.collective_s = 0.002;
    CHECK(collective_cost_s(job) == 0.002);
}

// A rank that always computes gets what noise leaves of its CPU, whatever the granularity: total (1 - F L) = work.
TEST_CASE("one rank loses the share of its CPU that noise takes") {
    for (const double work_s : {1e-5, 0.01, 30.0}) // much shorter than a length, between, much longer than a period
        for (const bool is_poisson : {false, true}) {
            const auto one = noise_class("daemon", 0.1, 0.02);
            const auto cycles = static_cast<uint32_t>(600 / work_s < 2e6 ? 600 / work_s : 2e6);
            const auto outcome = simulate_job(job_of(1, 1, work_s, cycles), machine_of(is_poisson ? poisson(one) : one), 1);
            INFO("work " << work_s << " s, " << (is_poisson ? "Poisson" : "periodic"));
            // A run of few events is known by its events alone.
            const double error = is_poisson ? 3 * 0.2 / std::sqrt(outcome.total_s * 10) + 0.001 : 0.02 / outcome.total_s + 1e-6;
            CHECK(outcome.quiet_s / outcome.total_s == Approx(0.8).epsilon(error / 0.8));
        }
}

// Work between collectives that is short against the events: the job stands while any rank's CPU is taken. With Poisson events
// on P CPUs that is an M/D/infinity queue, empty with probability exp(-P F L).
TEST_CASE("many ranks of fine granularity stand while any of them is disturbed") {
    const auto machine = machine_of(poisson(on_each_cpu(noise_class("x", 0.2, 0.001))));
    const auto outcome = simulate_job(job_of(64, 4, 1e-5, 500'000), machine, 3);
    CHECK(outcome.quiet_s / outcome.total_s == Approx(std::exp(-64 * 5 * 0.001)).epsilon(0.04));
}

// Work that is long against the events and short against their distance: a cycle is late by one length if any of P ranks is
// hit.
TEST_CASE("a cycle of many ranks is late when one of them is hit") {
    constexpr uint32_t kRanks = 800;
    for (const bool is_poisson : {false, true}) {
        const auto one = on_each_cpu(noise_class("x", 2, 1e-5));
        const auto outcome = simulate_job(job_of(kRanks, 4, 0.002, 20'000), machine_of(is_poisson ? poisson(one) : one), 5);
        const double delay_s = (outcome.total_s - outcome.quiet_s) / 20'000;
        CHECK(delay_s / 1e-5 == Approx(1 - std::pow(1 - 0.002 / 2, kRanks)).epsilon(0.02));
    }
}

// Work that is long against the distance of events: each rank has its share of them, periodic ones nearly the same number.
TEST_CASE("ranks of coarse granularity lose the mean, and little more, to periodic events") {
    const auto outcome = simulate_job(job_of(400, 4, 10, 20), machine_of(on_each_cpu(noise_class("x", 0.01, 0.001))), 1);
    CHECK(outcome.cycle_s() == Approx(10 / 0.9).epsilon(0.0003));
    CHECK(outcome.cycle_s() > 10 / 0.9);
}

// Events on all CPUs at the same moment, of exponential lengths: the job waits for the longest of P, whose mean is L (1 + 1/2 +
// ..
// + 1/P).
TEST_CASE("the longest of many exponential events counts") {
    auto one = on_each_cpu(noise_class("x", 1, 0.01));
    one.phase = NoiseClass::Phase::together;
    one.duration.shape = model::NoiseDuration::Shape::exponential;
    const auto outcome = simulate_job(job_of(100, 4, 0.1, 20'000), machine_of(one), 1);
    double harmonic = 0;
    for (int i = 1; i <= 100; i++)
        harmonic += 1.0 / i;
    CHECK((outcome.total_s - outcome.quiet_s) / outcome.total_s == Approx(0.01 * harmonic).epsilon(0.02));
}

// What falls into the wait costs only what sticks out: half of the time is waiting, and events are short against it.
TEST_CASE("a wait absorbs noise") {
    auto job = job_of(1, 1, 0.05, 4000);
    job.collective_s = 0.05;
    const auto outcome = simulate_job(job, machine_of(poisson(noise_class("x", 0.1, 0.001))), 1);
    // Of the events in a wait, those of its last millisecond stick out, by half on average.
    CHECK((outcome.total_s - outcome.quiet_s) / 4000 == Approx(0.0005 * 1.01 + 0.01 * 0.0005).epsilon(0.06));
}

TEST_CASE("an idle CPU of the node takes its events, but not those of other CPUs") {
    auto job = job_of(24, 3, 0.001, 2000);
    const auto loss = [&](const NoiseClass& one) {
        const auto outcome = simulate_job(job, machine_of(one), 1);
        return outcome.total_s - outcome.quiet_s;
    };
    const auto daemon = noise_class("daemon", 0.05, 0.002);
    auto pinned = daemon;
    pinned.cpus = {0};
    CHECK(loss(daemon) > 0);
    job.cpus_per_node = 4;
    CHECK(loss(daemon) == 0);
    CHECK(loss(pinned) > 0);
    CHECK(loss(on_each_cpu(daemon)) > 0);
    job.ranks = 23; // now the last node has two
    job.cpus_per_node = 3;
    CHECK(loss(daemon) > 0);
    job.ranks = 2;
    CHECK(loss(daemon) == 0);
}

TEST_CASE("one rank of thousands that is late in each cycle makes all of them late") {
    auto job = job_of(4096, 4, 0.001, 100);
    job.work_factor.assign(4096, 1);
    job.work_factor[1234] = 101; // by 100 ms
    CHECK(simulate_job(job, {}, 1).cycle_s() == Approx(0.101));
}

TEST_CASE("more than 100 times as slow, by a daemon on one rank of thousands") {
    auto one = noise_class("daemon", 0.101, 0.0999); // always there but for a millisecond
    one.nodes = {0, {100}};
    one.cpus = {2};
    const auto machine = machine_of(one);
    CHECK_THROWS_WITH(simulate_job(job_of(4096, 4, 0.001, 100), machine, 1), Catch::Contains("99 %"));
    auto less = one;
    less.duration.mean_s = 0.0939; // 93 % of a CPU
    const auto outcome = simulate_job(job_of(4096, 4, 0.001, 2000), machine_of(less), 1);
    CHECK(outcome.total_s / outcome.quiet_s == Approx(1 / (1 - 0.0939 / 0.101)).epsilon(0.02));
}
