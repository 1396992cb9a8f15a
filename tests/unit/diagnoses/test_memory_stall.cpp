// Lines that wait for data, as counters of machines that have them report them. Two lines: one walks, one computes.
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t kCyclesPerSample = 24'000'000, kMissesPerSample = 400'000;

struct Sampled {
    Sampled() : made(10, 1) {
        made.add_thread(0, 1, 0);
        made.name(0x400100, "walk", "/home/user/app", "app.c", 10);
        made.name(0x400200, "compute", "/home/user/app", "app.c", 20);
        walk = made.add_path({0x400100});
        compute = made.add_path({0x400200});
    }
    // So many samples of each line.
    void add(const char* event, uint64_t walking, uint64_t computing, uint64_t period = kCyclesPerSample) {
        auto& sites = made.run.processes[0].counter_sites;
        sites.push_back({event, 0, walk, walking, walking * period});
        sites.push_back({event, 0, compute, computing, computing * period});
    }
    std::vector<Finding> find() {
        made.finish();
        return testing::findings_of("memory-stall", made.run, made.resolver);
    }
    testing::SyntheticRun made;
    uint32_t walk = 0, compute = 0;
};

std::string come_from(const Finding& finding) { return std::get<std::string>(finding.evidence.at("data_come_from")); }

} // namespace

TEST_CASE("the line that waits for memory is named, with the level and a bound of the gain") {
    Sampled sampled;
    sampled.add("cycles", 600, 400);
    sampled.add("memory stalls", 450, 20);
    sampled.add("last level stalls", 400, 0);
    const std::vector<Finding> findings = sampled.find();
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK_THAT(finding.title, Contains("47 %") && Contains("app.c:10"));
    CHECK(finding.where.at(0).line == 10);
    CHECK(finding.where.at(0).share == Approx(450.0 / 470));
    CHECK(come_from(finding) == "memory");
    CHECK(finding.cost.fraction == Approx(0.47).epsilon(0.02));
    CHECK(finding.gain.kind() == Gain::Kind::upper_bound);
    CHECK(finding.severity == Severity::medium); // how much of the bound can be had is not known
    CHECK(std::get<double>(finding.evidence.at("behind_last_level_fraction")) == Approx(400.0 / 450));
}

TEST_CASE("a program of the system's packages: for information, nobody here changes its code") {
    Sampled sampled;
    sampled.add("cycles", 600, 400);
    sampled.add("memory stalls", 450, 20);
    sampled.made.run.processes[0].modules[0].path = "/usr/bin/app";
    CHECK(sampled.find().at(0).severity == Severity::info);
}

TEST_CASE("data that come from a cache") {
    Sampled sampled;
    sampled.add("cycles", 600, 400);
    sampled.add("memory stalls", 450, 20);
    sampled.add("last level stalls", 30, 0);
    CHECK(come_from(sampled.find().at(0)) == "a cache behind the first one");
}

TEST_CASE("cycles stalled for whatever reason are memory's where misses make as many") {
    Sampled walks;
    walks.add("cycles", 600, 400);
    walks.add("stalled cycles", 450, 20);
    walks.add("last level misses", 900, 0, kMissesPerSample); // 20 cycles each: 7,200 of 11,280 million
    REQUIRE(walks.find().size() == 1);
    Sampled divides;
    divides.add("cycles", 600, 400);
    divides.add("stalled cycles", 450, 20);
    divides.add("last level misses", 90, 0, kMissesPerSample);
    CHECK(divides.find().empty());
    Sampled uncounted;
    uncounted.add("cycles", 600, 400);
    uncounted.add("stalled cycles", 450, 20);
    CHECK(uncounted.find().empty());
}

TEST_CASE("programs that compute, too few samples, and no counters: nothing") {
    Sampled computes;
    computes.add("cycles", 500, 500);
    computes.add("memory stalls", 60, 20);
    CHECK(computes.find().empty());
    Sampled few;
    few.add("cycles", 6, 4);
    few.add("memory stalls", 2, 0);
    CHECK(few.find().empty());
    Sampled without;
    CHECK(without.find().empty());
    Sampled no_cycles;
    no_cycles.add("memory stalls", 450, 20);
    CHECK(no_cycles.find().empty());
}

TEST_CASE("a variable that the line's accesses were to") {
    Sampled sampled;
    sampled.add("cycles", 600, 400);
    sampled.add("memory stalls", 450, 20);
    sampled.made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        if (address != 0x404000)
            return std::nullopt;
        model::DataName name;
        name.name = "table";
        return name;
    };
    model::SampledAccess access;
    access.address = 0x400100;
    access.samples = 10;
    access.time_ns = 10'000'000;
    access.last_address = 0x404000;
    sampled.made.run.processes[0].sampled_accesses.push_back(access);
    const Finding finding = sampled.find().at(0);
    CHECK(finding.subject.name == "table");
    CHECK(come_from(finding) == "not known"); // neither stalls behind the last level nor its misses were counted
}
