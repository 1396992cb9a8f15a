#include "reports/json/simulation.h"
#include "simulate/change.h"
#include "simulate/noise_machines.h"
#include "simulate/rank_noise.h"
#include "simulate/simulate_job.h"
#include "simulate/study.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

using namespace plumb;
using namespace plumb::simulate;
using Catch::Contains;

namespace {

model::NoiseMachine cluster() {
    auto tick = noise_class("tick", 0.1, 0.0006), beat = noise_class("beat", 0.5, 0.0003),
         daemon = noise_class("daemon", 5, 0.015), quorum = noise_class("quorum", 3, 0.1);
    tick.group = beat.group = "kernel";
    daemon.group = "manager";
    quorum.nodes = {8, {1}};
    return {"cluster", 16, 4, {tick, beat, daemon, quorum}};
}

Setting setting_of(uint32_t ranks, uint32_t cycles) {
    return {job_of(ranks, 4, 0.001, cycles), cluster()};
}

StudyPlan plan_of(uint32_t seeds, unsigned threads) {
    StudyPlan plan;
    plan.base = setting_of(64, 300);
    plan.granularity_s = {0.0001, 0.002};
    plan.changes = plan.together = all_removals(plan.base.machine);
    plan.scales = {2, 4};
    plan.seeds = seeds;
    plan.threads = threads;
    return plan;
}

} // namespace

TEST_CASE("every class, every group of several classes and every set of nodes can be removed") {
    std::vector<std::string> labels;
    for (const Change& change : all_removals(cluster()))
        labels.push_back(change.label());
    CHECK(labels == std::vector<std::string>{"without tick", "without beat", "without daemon", "without quorum",
                                             "without all of kernel", "not on node 1 of 8"});
}

TEST_CASE("what is to be removed is looked up, and what there is is named") {
    CHECK(parse_without("tick", cluster()).kind == Change::Kind::without_class);
    CHECK(parse_without("group=kernel", cluster()).kind == Change::Kind::without_group);
    CHECK(parse_without("daemon=manager", cluster()).name == "manager");
    const Change nodes = parse_without("node=1/32", cluster());
    CHECK(nodes.every == 32);
    CHECK(nodes.offset == 1);
    const Change node = parse_without("node=17", cluster());
    CHECK(node.kind == Change::Kind::without_node);
    CHECK(node.offset == 17);
    CHECK(node.label() == "not on node 17");
    CHECK_THROWS_WITH(parse_without("tack", cluster()), Contains("tick, beat, daemon, quorum") && Contains("kernel, manager"));
    CHECK_THROWS_WITH(parse_without("group=tick", cluster()), Contains("no such class"));
    CHECK_THROWS_WITH(parse_without("node=32/32", cluster()), Contains("32 is not below 32"));
    for (const char* bad : {"node=", "node=a", "node=1.5", "node=-1", "node=1x", "node=a/3", "node=1/", "node=/3", "node=-1/4",
                            "node=0/1", "node=0/99999999999"})
        CHECK_THROWS_WITH(parse_without(bad, cluster()), Contains("node=K is needed") && Contains("node=K/N"));
}

TEST_CASE("changes that cannot be made are refused") {
    auto setting = setting_of(64, 10);
    const Change even{Change::Kind::without_nodes, {}, 2, 0}, odd{Change::Kind::without_nodes, {}, 2, 1};
    CHECK_THROWS_WITH(changed(setting, {even, odd}), Contains("no node would be left"));
    CHECK_THROWS_WITH(
        changed(setting, {{Change::Kind::without_nodes, {}, 65521, 0}, {Change::Kind::without_nodes, {}, 65519, 0}}),
        Contains("65,536 are the most"));
    const auto without_node = [](uint32_t node) { return Change{Change::Kind::without_node, {}, 0, node}; };
    CHECK_THROWS_WITH(changed(setting, without_node(16)), Contains("node=16: the job runs on nodes 0 to 15"));
    CHECK_NOTHROW(changed(setting, {without_node(15), without_node(0)}));
    CHECK_THROWS_WITH(changed({job_of(4, 4, 0.001, 10), cluster()}, without_node(1)), Contains("on node 0 alone"));
    const Change spare{Change::Kind::spare_cpu, {}, 0, 0};
    CHECK_THROWS_WITH(changed(setting, {spare, spare}), Contains("spare already"));
    setting.job = job_of(64, 1, 0.001, 10);
    CHECK_THROWS_WITH(changed(setting, spare), Contains("none would be left"));
    CHECK_THROWS_WITH(scaled(setting.job, 1u << 20), Contains("16.8 M are the most"));
}

TEST_CASE("jobs that cannot be are refused") {
    const auto refused = [](auto spoil, const std::string& why) {
        auto job = job_of(64, 4, 0.001, 10);
        spoil(job);
        CHECK_THROWS_WITH(check_job(job), Contains(why));
    };
    refused([](Job& job) { job.ranks = 0; }, "0 ranks");
    refused([](Job& job) { job.ranks_per_node = 5; }, "5 ranks on a node with 4 CPUs");
    refused([](Job& job) { job.ranks = Job::kMostRanks + 1; }, "are the most");
    refused([](Job& job) { job.cycles = 0; }, "0 cycles");
    refused([](Job& job) { job.cycle_work_s = {-1}; }, "-1 s of work");
    auto machine = cluster();
    machine.classes[0].cpus = {4};
    CHECK_THROWS_WITH(simulate_job(job_of(64, 4, 0.001, 10), machine, 1), Contains("\"tick\" happens on CPU 4"));
}

TEST_CASE("a job that leaves out nodes runs on as many others") {
    const auto machine = cluster();
    const auto nodes_after = [&](const std::vector<Change>& changes) {
        const Setting setting = changed(setting_of(64, 10), changes);
        const RankNoise noise(setting.machine, setting.job, 1);
        std::vector<uint32_t> nodes;
        for (uint32_t node = 0; node < setting.job.nodes(); node++)
            nodes.push_back(noise.physical_node(node));
        return nodes;
    };
    using Nodes = std::vector<uint32_t>;
    const Change fours{Change::Kind::without_nodes, {}, 4, 0}, sixes{Change::Kind::without_nodes, {}, 6, 5};
    CHECK(nodes_after({fours, sixes}) == Nodes{1, 2, 3, 6, 7, 9, 10, 13, 14, 15, 18, 19, 21, 22, 25, 26});
    const Change two{Change::Kind::without_node, {}, 0, 2}, eight{Change::Kind::without_node, {}, 0, 8},
        nine{Change::Kind::without_node, {}, 0, 9}, last{Change::Kind::without_node, {}, 0, 15};
    CHECK(nodes_after({two}) == Nodes{0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    CHECK(nodes_after({last, two, two}) == Nodes{0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17});
    // Node 8 is left out by both rules, and counts once.
    const Nodes both{1, 3, 6, 7, 10, 13, 14, 15, 18, 19, 21, 22, 25, 26, 27, 30};
    CHECK(nodes_after({fours, two, sixes, eight, nine}) == both);
    CHECK(nodes_after({nine, eight, two, sixes, fours}) == both);
}

TEST_CASE("a job without its one noisy node is a quiet job, and a larger one leaves out that node only") {
    StudyPlan plan;
    plan.base = setting_of(64, 50);
    auto hog = noise_class("hog", 0.01, 0.002);
    hog.nodes = {0, {5}};
    plan.base.machine.classes = {hog};
    plan.granularity_s = {0.001};
    plan.seeds = 2;
    plan.scales = {2};
    plan.changes = plan.together = {parse_without("node=5", plan.base.machine)};
    const Study study = run_study(plan);
    CHECK(study.granularities[0].cycle_s.mean > 1.1 * study.granularities[0].quiet_cycle_s);
    CHECK(study.granularities[0].changes[0].cycle_s.mean == Approx(study.granularities[0].quiet_cycle_s));
    CHECK(study.scales[1].changed_cycle_s[0].mean == Approx(study.scales[1].quiet_cycle_s[0]));
    plan.changes = plan.together = {parse_without("node=4", plan.base.machine)};
    CHECK(run_study(plan).granularities[0].changes[0].gain.mean == Approx(0).margin(1e-12)); // it keeps the noisy one
}

TEST_CASE("a spare CPU costs its share of the work") {
    const auto setting = changed(setting_of(64, 10), {Change::Kind::spare_cpu, {}, 0, 0});
    CHECK(setting.job.ranks == 48);
    CHECK(setting.job.nodes() == 16);
    CHECK(setting.job.cycle_work_s.front() == Approx(0.001 * 4 / 3));
}

TEST_CASE("no removal makes a job slower, and all together gain most") {
    const Study study = run_study(plan_of(8, 2));
    for (const AtGranularity& at : study.granularities) {
        for (const WhatIf& one : at.changes) {
            INFO(one.label);
            CHECK(one.gain.mean + one.gain.half_width >= -0.002);
            CHECK(at.together.gain.mean >= one.gain.mean);
        }
        CHECK(at.together.cycle_s.mean == Approx(at.quiet_cycle_s));
        CHECK(at.together.gain.mean > 0.1);
        double shares = 0;
        for (const ClassLoss& one : at.classes)
            shares += one.share;
        CHECK(shares == Approx(1));
    }
    for (size_t i = 0; i + 1 < study.scales.size(); i++)
        CHECK(study.scales[i].cycle_s[0].mean < study.scales[i + 1].cycle_s[0].mean); // larger jobs lose more
    CHECK(study.scales.front().ranks == 64);
    CHECK(study.scales.front().cycle_s[0].mean == study.granularities[0].cycle_s.mean);
}

TEST_CASE("the number of threads changes nothing, another number of seeds does") {
    const std::string one = simulation_json(run_study(plan_of(4, 1)));
    CHECK(simulation_json(run_study(plan_of(4, 3))) == one);
    CHECK(simulation_json(run_study(plan_of(5, 3))) != one);
    const auto document = nlohmann::json::parse(one);
    CHECK(document["schema"] == "plumb-simulation/1");
    CHECK(document["granularities"].size() == 2);
    CHECK(document["granularities"][0]["changes"].size() == 6);
    CHECK(document["granularities"][0]["lost_to_lengths_up_to"].back()["fraction"] == Approx(1));
    CHECK(document["scales"].size() == 3);
}

TEST_CASE("an error in a simulated case ends the study") {
    auto plan = plan_of(4, 3);
    plan.base.machine.classes[3].duration.mean_s = 2.9; // of 3 s, on one of four CPUs at a time: that can be
    plan.base.machine.classes[3].cpus = {2};            // that cannot
    CHECK_THROWS_WITH(run_study(plan), Contains("CPU 2"));
}

TEST_CASE("noise at the same moment everywhere costs little more than on one node") {
    auto plan = plan_of(4, 2);
    plan.changes = plan.together = {{Change::Kind::coschedule, {}, 0, 0}};
    plan.base.machine.classes.resize(1);
    plan.scales.clear();
    const Study study = run_study(plan);
    CHECK(study.granularities[0].changes[0].gain.mean > 0.05);
    // One event in each 0.1 s, of 0.6 ms.
    CHECK(study.granularities[1].changes[0].cycle_s.mean == Approx(0.002 / (1 - 0.006)).epsilon(0.01));
}
