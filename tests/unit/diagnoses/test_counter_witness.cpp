// A finding that counters contradict loses confidence; one that they agree with gains some.
#include "diagnoses/common/counter_witness.h"

#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using Catch::Matchers::Contains;

namespace {

// A finding of 2 s in a run of 10 s that was computing all the time, at a thousand million cycles a second.
struct Heard {
    Heard(const char* id, const char* event, double events_each_cycle) : made(10, 2) {
        made.add_thread(0, 1, 0);
        constexpr uint64_t kCycles = 1'000'000'000;
        auto& counters = made.run.hosts[0].counters;
        const uint64_t begin = made.run.begin_ns;
        counters.push_back({"cycles", begin, begin + 1000, kCycles, 1, 1, false});
        counters.push_back({event, begin, begin + 1000, static_cast<uint64_t>(events_each_cycle * kCycles), 1, 1, false});
        finding.id = id;
        finding.confidence = 0.8;
        finding.cost = {2, 0.2, "estimated"};
        hear_counters(finding, made.run);
    }
    std::string counters() const {
        const auto found = finding.evidence.find("counters");
        return found == finding.evidence.end() ? "" : std::get<std::string>(found->second);
    }
    testing::SyntheticRun made;
    Finding finding;
};

} // namespace

TEST_CASE("too few events for the cost: less confidence") {
    const Heard heard("page-size", "data TLB misses", 0.00005); // at most 50 cycles of a thousand
    CHECK(heard.finding.confidence == Approx(0.4));
    CHECK_THAT(heard.counters(), Contains("contradict"));
    CHECK(std::get<double>(heard.finding.evidence.at("data_tlb_misses_per_thousand_cycles")) == Approx(0.05));
}

TEST_CASE("enough events for the cost even if each is fast: more confidence") {
    const Heard heard("page-size", "data TLB misses", 0.01); // at least 200 cycles of a thousand
    CHECK(heard.finding.confidence == Approx(0.9));
    CHECK_THAT(heard.counters(), Contains("agree"));
}

TEST_CASE("in between nothing is said, nor of findings and counters without a relation") {
    CHECK(Heard("page-size", "data TLB misses", 0.001).finding.confidence == 0.8);
    CHECK(Heard("page-size", "data TLB misses", 0.001).counters().empty());
    CHECK(Heard("heap-bound", "data TLB misses", 0).finding.confidence == 0.8);
    const Heard other("page-size", "branch misses", 0);
    CHECK(other.finding.confidence == 0.8);
    CHECK(other.finding.evidence.empty());
}

TEST_CASE("the cost of one thread among many is compared with the events of all") {
    Heard heard("memory-remote", "remote memory loads", 0);
    for (int cpu = 1; cpu < 16; ++cpu)
        heard.made.add_thread(cpu % 2, 1, 0);
    heard.made.run.hosts[0].counters[1].count = 20'000; // 20 ms for each second of 160 s of CPU time: 3.2 s at most
    heard.finding.confidence = 0.8;
    heard.finding.evidence.clear();
    hear_counters(heard.finding, heard.made.run);
    CHECK(heard.finding.confidence == 0.8);
}
