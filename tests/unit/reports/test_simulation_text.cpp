#include "reports/text/simulation.h"
#include "simulate/noise_machines.h"
#include "simulate/study.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace plumb;
using Catch::Contains;

namespace {

simulate::StudyPlan small_plan() {
    simulate::StudyPlan plan;
    auto tick = noise_class("tick", 0.1, 0.0006), sweep = noise_class("sweep", 2, 0.02);
    tick.group = sweep.group = "system";
    sweep.fitted = {"period_ms"};
    plan.base = {job_of(64, 4, 0, 200), {"test machine", 16, 4, {tick, sweep}}};
    plan.granularity_s = {0, 0.001};
    plan.seeds = 3;
    return plan;
}

} // namespace

TEST_CASE("a simulation's text says what was simulated, what it costs, what helps and who does it") {
    auto plan = small_plan();
    plan.changes = plan.together = simulate::all_removals(plan.base.machine);
    plan.scales = {2};
    const auto study = simulate::run_study(plan);
    const std::string text = simulation_text(study, {.width = 100, .colour = false, .unicode = false}, 1.5);
    CHECK_THAT(text, Contains("64 ranks, 4 on each of 16 nodes with 4 CPUs") && Contains("test machine: 2 classes"));
    CHECK_THAT(text, Contains("not measured: sweep (period_ms)") && Contains("3 runs of 200 cycles"));
    CHECK_THAT(text, Contains("no work") && Contains("without all of system") && Contains("all together"));
    CHECK_THAT(text, Contains("tick (600 us every 100 ms)") && Contains("128"));
    CHECK_THAT(text, !Contains("±") && !Contains("nan") && !Contains("inf"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        CHECK(line.size() <= 100);
}

TEST_CASE("where there is no noise, nothing is lost to it") {
    auto plan = small_plan();
    plan.base.machine.classes.clear();
    const std::string text = simulation_text(simulate::run_study(plan), {}, 0.1);
    CHECK_THAT(text, Contains("1.00 ms") && !Contains("nan") && !Contains("What a change gains") && !Contains("rank late"));
}

TEST_CASE("of a halo exchange it is not said who makes the last rank late") {
    auto plan = small_plan();
    plan.base.job.collective = simulate::Collective::halo2;
    const std::string text = simulation_text(simulate::run_study(plan), {}, 0.1);
    CHECK_THAT(text, Contains("halo exchange in 2 dimensions") && Contains("Every rank") && !Contains("rank late"));
}
