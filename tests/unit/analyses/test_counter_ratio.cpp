// Counted events are related where they were counted together, and nowhere else; the metrics that are made of them.
#include "analyses/time/counter_ratio.h"
#include "diagnoses/counter_metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace plumb;

namespace {

struct CountedRun {
    CountedRun() {
        run.begin_ns = 0;
        run.end_ns = 1000;
        run.hosts.resize(2);
    }
    void add(const char* event, uint32_t group, uint64_t begin, uint64_t end, uint64_t count, size_t host = 0, uint32_t pid = 1) {
        run.hosts[host].counters.push_back(
            {.event = event, .begin_ns = begin, .end_ns = end, .count = count, .pid = pid, .group = group, .by_papi = false});
    }
    const Metric* metric(const std::string& name) {
        metrics = counter_metrics_of(run);
        const auto found = std::ranges::find(metrics, name, &Metric::name);
        return found == metrics.end() ? nullptr : &*found;
    }
    model::Run run;
    std::vector<Metric> metrics;
};

} // namespace

TEST_CASE("a ratio is one of the slices in which both were counted") {
    CountedRun counted;
    counted.add("instructions", 1, 0, 100, 200);
    counted.add("cycles", 1, 0, 100, 100);
    counted.add("instructions", 2, 100, 200, 900); // cycles were left out here: shared with others
    counted.add("cycles", 3, 100, 200, 5000);      // of another group at the same time
    counted.add("instructions", 1, 200, 400, 100);
    counted.add("cycles", 1, 200, 400, 200);
    const auto ratio = counter_ratio(counted.run, "instructions", "cycles");
    REQUIRE(ratio);
    CHECK(ratio->value == Approx(1)); // 300 / 300
    CHECK(ratio->time_share == Approx(0.3));
}

TEST_CASE("slices of several processes and hosts are summed, and cover the run once") {
    CountedRun counted;
    for (const uint32_t pid : {1u, 2u}) {
        counted.add("instructions", 1, 0, 500, 100 * pid, 0, pid);
        counted.add("cycles", 1, 0, 500, 100, 0, pid);
    }
    counted.add("instructions", 1, 0, 400, 600, 1);
    counted.add("cycles", 1, 0, 400, 100, 1);
    const auto ratio = counter_ratio(counted.run, "instructions", "cycles");
    REQUIRE(ratio);
    CHECK(ratio->value == Approx(3)); // 900 / 300
    CHECK(ratio->time_share == Approx(0.5));
}

TEST_CASE("nothing counted together is no ratio") {
    CountedRun counted;
    CHECK_FALSE(counter_ratio(counted.run, "instructions", "cycles"));
    counted.add("instructions", 1, 0, 100, 200);
    CHECK_FALSE(counter_ratio(counted.run, "instructions", "cycles"));
    counted.add("cycles", 1, 0, 100, 0);
    CHECK_FALSE(counter_ratio(counted.run, "instructions", "cycles"));
    CHECK(counter_metrics_of(counted.run).empty());
}

TEST_CASE("metrics say what they are, and for how much of the run") {
    CountedRun counted;
    counted.add("instructions", 1, 0, 250, 4000);
    counted.add("cycles", 1, 0, 250, 2000);
    counted.add("data cache misses", 1, 0, 250, 20);
    counted.add("double precision operations", 2, 250, 500, 800);
    counted.add("scalar double precision operations", 2, 250, 500, 200);
    const Metric* cycle = counted.metric("instructions per cycle");
    REQUIRE(cycle);
    CHECK(cycle->value == Approx(2));
    CHECK_THAT(cycle->how, Catch::Matchers::Contains("25 % of the run"));
    REQUIRE(counted.metric("data cache misses per thousand instructions"));
    CHECK(counted.metric("data cache misses per thousand instructions")->value == Approx(5));
    REQUIRE(counted.metric("packed share"));
    CHECK(counted.metric("packed share")->value == Approx(0.75));
    CHECK_FALSE(counted.metric("stalled share"));
    CHECK_FALSE(counted.metric("counted context switches"));
}

TEST_CASE("what the kernel counts is a rate") {
    CountedRun counted;
    counted.run.end_ns = 4'000'000'000;
    counted.add("context switches", 4, 0, 2'000'000'000, 30);
    counted.add("context switches", 4, 2'000'000'000, 4'000'000'000, 50);
    const Metric* rate = counted.metric("counted context switches");
    REQUIRE(rate);
    CHECK(rate->value == Approx(20));
    CHECK(rate->unit == "per second");
}
