// A recorded job is simulated as it was: jobs made up by hand, whose waiting is known.
#include "simulate/recorded_job.h"
#include "simulate/simulate_job.h"
#include "simulate/study.h"
#include "support/error.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::simulate;

namespace {

constexpr double kWork_s = 1e-3, kTaken_s = 20e-3, kPeriod_s = 0.5;
constexpr uint32_t kSteps = 10'000;

// Ranks that work for 1 ms a step, the last one `more` times as long; a daemon takes the CPU of the second rank of each host.
model::MpiSteps job_beside_daemon(std::vector<uint32_t> ranks_on, double more = 1) {
    model::MpiSteps steps;
    for (const uint32_t count : ranks_on)
        steps.ranks += count;
    steps.ranks_on = ranks_on;
    steps.cpus_per_node = ranks_on.front();
    steps.steps = steps.all_steps = kSteps;
    for (uint32_t step = 0; step < kSteps; step++)
        for (uint32_t rank = 0; rank < steps.ranks; rank++)
            steps.work_s.push_back(static_cast<float>(rank + 1 == steps.ranks ? more * kWork_s : kWork_s));
    model::NoiseTaker daemon;
    daemon.kind = model::NoiseTaker::Kind::programs;
    daemon.names = {"pollerd"};
    const double quiet_s = kSteps * kWork_s * more;
    steps.elapsed_s = quiet_s;
    daemon.losses = {.losses = {},
                     .nodes = static_cast<uint32_t>(ranks_on.size()),
                     .cpus_per_node = ranks_on.front(),
                     .measured_s = quiet_s,
                     .least_s = 0};
    for (uint32_t node = 0; node < daemon.losses.nodes; node++)
        for (double begin_s = 0.1 + 0.05 * node; begin_s < quiet_s; begin_s += kPeriod_s)
            daemon.losses.losses.push_back({node, 1, begin_s, kTaken_s});
    steps.takers = {daemon};
    return steps;
}

Outcome outcome_of(const RecordedJob& recorded, const std::vector<Change>& changes = {}) {
    Setting setting = changed(recorded.setting, changes);
    for (double& work_s : setting.job.cycle_work_s)
        work_s *= recorded.facts.work_s;
    return simulate_job(setting.job, setting.machine, 7);
}

} // namespace

TEST_CASE("what a daemon takes from one rank makes the others wait: as much as it takes, but what falls between steps") {
    const RecordedJob recorded = recorded_job(job_beside_daemon({2}));
    CHECK(recorded.facts.work_s == Approx(kWork_s));
    REQUIRE(recorded.facts.takers.size() == 1);
    CHECK(recorded.facts.takers[0].name == "pollerd");
    REQUIRE(recorded.facts.takers[0].classes.size() == 1);
    CHECK(recorded.facts.takers[0].classes[0].mean_period_s() == Approx(kPeriod_s).epsilon(0.001));
    const Outcome outcome = outcome_of(recorded);
    // Ranks without noise take 10 s; of each 500 ms of what it then takes 20 ms are lost.
    CHECK(outcome.total_s == Approx(kSteps * kWork_s / (1 - kTaken_s / kPeriod_s)).epsilon(0.002));
    CHECK(outcome.quiet_s == Approx(kSteps * kWork_s));
    CHECK(outcome.waited_s == Approx((outcome.total_s - outcome.quiet_s) / 2).epsilon(0.01)); // one of the two waits
}

TEST_CASE("without the daemon, or with a CPU to spare for it, a recorded job takes the time of its work") {
    const RecordedJob recorded = recorded_job(job_beside_daemon({4, 4}));
    CHECK(outcome_of(recorded).total_s > 1.05 * kSteps * kWork_s); // two daemons, each at its own moments
    const Outcome without = outcome_of(recorded, {{Change::Kind::without_class, "pollerd", 0, 0}});
    CHECK(without.total_s == Approx(kSteps * kWork_s));
    CHECK(without.waited_s == Approx(0).margin(1e-6));
    const Outcome spare = outcome_of(recorded, {{Change::Kind::spare_cpu, {}, 0, 0}});
    CHECK(spare.total_s == Approx(kSteps * kWork_s * 8 / 6));
    const Outcome at_once = outcome_of(recorded, {{Change::Kind::coschedule, {}, 0, 0}});
    CHECK(at_once.total_s == Approx(kSteps * kWork_s / (1 - kTaken_s / kPeriod_s)).epsilon(0.002));
}

TEST_CASE("a rank that is late by its own work is so in the simulation, too, and hides noise of the others") {
    const RecordedJob recorded = recorded_job(job_beside_daemon({4}, 30)); // 29 ms longer than the others, each 30 ms
    const Outcome outcome = outcome_of(recorded);
    CHECK(outcome.total_s == Approx(kSteps * kWork_s * 30).epsilon(1e-3)); // 20 ms never stick out
    CHECK(outcome.waited_s == Approx(kSteps * kWork_s * 29 * 3 / 4).epsilon(0.02));
}

TEST_CASE("a larger job has the daemons of its nodes at moments of their own") {
    const RecordedJob recorded = recorded_job(job_beside_daemon({2}));
    Setting larger = recorded.setting;
    larger.job = scaled(larger.job, 8);
    larger.job.cycle_work_s = {kWork_s};
    const Outcome outcome = simulate_job(larger.job, larger.machine, 7);
    CHECK(outcome.total_s > 1.25 * kSteps * kWork_s); // 8 daemons of 4 %, of which few meet
    CHECK(outcome.total_s < kSteps * kWork_s / (1 - 8 * kTaken_s / kPeriod_s) * 1.002);
}

TEST_CASE("time in the collective is no work of the ranks, and grows with the steps of a larger job") {
    model::MpiSteps steps = job_beside_daemon({4});
    steps.operation_s = 100e-6;
    const RecordedJob recorded = recorded_job(steps);
    CHECK(recorded.facts.work_s == Approx(kWork_s - 100e-6));
    CHECK(collective_cost_s(recorded.setting.job) == Approx(100e-6));
    CHECK(collective_cost_s(scaled(recorded.setting.job, 4)) == Approx(200e-6)); // 16 ranks instead of 4: 4 hops for 2
    CHECK(outcome_of(recorded, {{Change::Kind::without_class, "pollerd", 0, 0}}).total_s == Approx(kSteps * kWork_s));
    steps.operation_s = 5 * kWork_s; // of a mean that a few long ones made
    CHECK(collective_cost_s(recorded_job(steps).setting.job) == Approx(kWork_s));
}

TEST_CASE("hosts with different numbers of ranks are refused, but for the last one") {
    CHECK_THROWS_WITH(recorded_job(job_beside_daemon({2, 3})), Catch::Contains("2 ranks on its first node and 3"));
    CHECK_THROWS_WITH(recorded_job(job_beside_daemon({4, 2, 4})), Catch::Contains("4 ranks on its first node and 2"));
    CHECK(recorded_job(job_beside_daemon({4, 4, 2})).setting.job.nodes() == 3);
}
