#include "reports/html/page_frame.h"
#include "reports/html/page_simulation.h"
#include "reports/html/simulation.h"
#include "reports/words/simulation_words.h"
#include "simulate/noise_machines.h"
#include "simulate/study.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace plumb;
using Catch::Contains;
using simulate::LossByLength;

namespace {

simulate::StudyPlan page_plan() {
    simulate::StudyPlan plan;
    auto tick = noise_class("tick", 0.1, 0.0006), sweep = noise_class("sweep", 2, 0.02);
    tick.group = sweep.group = "system";
    sweep.fitted = {"period_ms"};
    plan.base = {job_of(64, 4, 0, 200), {"test machine", 16, 4, {tick, sweep}}};
    plan.granularity_s = {0, 0.001};
    plan.seeds = 3;
    plan.changes = plan.together = simulate::all_removals(plan.base.machine);
    return plan;
}

simulate::Study lost_to(std::vector<std::vector<std::pair<double, double>>> lengths) {
    simulate::Study study;
    for (const auto& of_granularity : lengths) {
        simulate::AtGranularity at;
        for (const auto& one : of_granularity)
            at.loss.delay_s[LossByLength::bin_of(one.first)] += one.second;
        study.granularities.push_back(at);
    }
    return study;
}

} // namespace

TEST_CASE("a gain has the digits that its interval leaves") {
    CHECK(percent_with_error({0.352, 0.004}, true) == "35.2 ± 0.4 %");
    CHECK(percent_with_error({0.352, 0.04}, false) == "35 +- 4 %");
    CHECK(percent_with_error({0.352, 0}, true) == "35 %");
    CHECK(percent_with_error({-0.0, 0}, true) == "0.0 %");
    CHECK(percent_with_error({-0.004, 0.012}, true) == "0 ± 1 %");
    CHECK(percent_with_error({-0.006, 0.012}, true) == "-1 ± 1 %");
    CHECK(percent_with_error({-0.0004, 0.003}, true) == "0.0 ± 0.3 %");
    CHECK(time_with_error({0.00778, 0.00778 * 0.031}, true) == "7.78 ms ± 3.1 %");
    CHECK(time_with_error({0.00778, 0}, true) == "7.78 ms");
}

TEST_CASE("what is lost to events of at most a length rises from nothing to all, where it rises") {
    const auto steps = cumulative_losses(lost_to({{{0.0011, 3.0}, {0.02, 1.0}}, {{0.02, 5.0}}, {}}));
    REQUIRE(steps.size() == 4);
    CHECK(steps[0].shares == std::vector<double>{0, 0, 0});
    CHECK(steps[0].length_s <= 0.0011);
    CHECK(steps[1].shares == std::vector<double>{0.75, 0, 0});
    CHECK(steps[1].length_s >= 0.0011);
    CHECK(steps[2].shares == std::vector<double>{0.75, 0, 0});
    CHECK(steps[2].length_s <= 0.02);
    CHECK(steps[3].shares == std::vector<double>{1, 1, 0});
    CHECK(steps[3].length_s >= 0.02);
    const auto neighbours =
        cumulative_losses(lost_to({{{0.0011, 1.0}, {0.0013, 1.0}}})); // of bins side by side, with no gap between
    CHECK(neighbours.size() == 3);
    CHECK(cumulative_losses(lost_to({{{0, 1.0}}})).front().length_s == Approx(1e-6));
    CHECK(cumulative_losses(lost_to({{}})).empty());
}

TEST_CASE("the first sentences say what the noise costs and what helps most, with figures of the simulation") {
    const auto study = simulate::run_study(page_plan());
    const std::string verdict = simulation_verdict(study);
    CHECK_THAT(verdict,
               Contains("times as long at 1.00 ms") || Contains("a cycle takes")); // without work a quiet cycle takes no time
    CHECK_THAT(verdict,
               Contains("The largest saving of the job's time, over all of these, comes from \"without all of system\": "));
    auto plan = page_plan();
    plan.changes = plan.together = {simulate::parse_without("sweep", plan.base.machine)};
    plan.base.job.per_hop_s = 5e-6;
    const std::string one = simulation_verdict(simulate::run_study(plan));
    CHECK_THAT(one,
               Contains("times as long without work in a cycle, ") && Contains("The change \"without sweep\" saves a part"));
    plan.changes = plan.together = {simulate::parse_without("sweep", plan.base.machine)};
    plan.base.machine.classes.resize(1);
    CHECK_THAT(simulation_verdict(simulate::run_study(plan)), Contains("The change gains nothing."));
    plan.granularity_s = {0, 0.001, 0.002, 0.003, 0.004};
    CHECK_THAT(simulation_verdict(simulate::run_study(plan)), Contains("depending on the work in a cycle"));
}

TEST_CASE("the page of a simulation has its classes, most costly first, and the numbers of its charts") {
    auto plan = page_plan();
    plan.scales = {2};
    const auto study = simulate::run_study(plan);
    const auto order = classes_by_share(study);
    REQUIRE(order.size() == 2);
    const auto largest = [&](size_t i) {
        return std::max(study.granularities[0].classes[i].share, study.granularities[1].classes[i].share);
    };
    CHECK(largest(order[0]) >= largest(order[1]));
    const auto data = simulation_chart_data(study);
    CHECK(data["granularities"] == nlohmann::ordered_json({"no work", "1.00 ms"}));
    CHECK(data["changes"].size() == 4); // two classes, their group, all together
    CHECK(data["changes"][0][0] == study.granularities[0].changes[study.order[0]].label);
    CHECK(data["classes"][0][0] == study.plan.base.machine.classes[order[0]].name);
    CHECK(data["sizes"].size() == 2);
    CHECK(data["sizes"][1][0] == 128);
    CHECK(data["lengths"].back()[1][0] == Approx(1));
    const std::string page = simulation_html(study);
    CHECK_THAT(page, Contains("64 ranks on 16 nodes") && Contains("What is assumed") && Contains("period_ms"));
    CHECK_THAT(page, !Contains(">nan") && !Contains(">inf"));
    CHECK(page == simulation_html(study));
}

TEST_CASE("numbers of charts cannot end the script element that holds them") {
    CHECK(embedded_json({{"name", "</script><!--&"}}) == R"({"name":"\u003c/script\u003e\u003c!--\u0026"})");
}
