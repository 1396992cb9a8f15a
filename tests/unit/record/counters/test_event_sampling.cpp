// Samples have to add up to what the event counts.
#include "record/counters/event_sampling.h"

#include <catch2/catch.hpp>
#include <linux/perf_event.h>

using namespace plumb::record;
using Catch::Matchers::Contains;

TEST_CASE("samples that stand for what was counted") {
    CHECK(sum_fault(100, 1000, 100'400, 2).empty());
    CHECK(sum_fault(0, 1000, 900, 1).empty()); // less than one sample
    CHECK(sum_fault(99, 1000, 102'900, 2).empty()); // the rest of each ring is in none
}

TEST_CASE("samples that were lost, and samples of something else") {
    CHECK_THAT(sum_fault(0, 1000, 1'000'000, 2), Contains("stand for 0, where 1000000 are counted"));
    CHECK_THAT(sum_fault(500, 1000, 1'000'000, 2), Contains("500000"));
    CHECK_THAT(sum_fault(1600, 1000, 100'000, 2), Contains("1600000"));
}

TEST_CASE("an event that does not exist cannot be sampled") {
    const CounterEvent nonsense{"nonsense", PERF_TYPE_HARDWARE, 9999, {""}, Quantity::cycles};
    const SamplingFault fault = sampling_fault({.event = &nonsense, .coding = {PERF_TYPE_HARDWARE, 9999, 0, 0}, .period = 1000}, {0, 0});
    CHECK_THAT(fault.why, Contains("perf_event_open, to sample: "));
    CHECK(fault.is_lasting);
}

TEST_CASE("events are found by the kernel's number, by libpfm's name, or not at all") {
    const auto cycles = coding_of(*find_event("cycles"));
    REQUIRE(cycles);
    CHECK(cycles->type == PERF_TYPE_HARDWARE);
    CHECK(cycles->config == PERF_COUNT_HW_CPU_CYCLES);
    const CounterEvent by_name{"by name", kNoPerf, 0, {"PAPI_NOTHING", "perf::PERF_COUNT_HW_INSTRUCTIONS", ""}, Quantity::instructions};
    if (const auto coding = coding_of(by_name)) { // with libpfm
        CHECK(coding->type == PERF_TYPE_HARDWARE);
        CHECK(coding->config == PERF_COUNT_HW_INSTRUCTIONS);
    } else {
        CHECK(coding_identity() == "libpfm 0");
    }
    const CounterEvent unknown{"unknown", kNoPerf, 0, {"PAPI_NOTHING", "NO_SUCH:EVENT", ""}, Quantity::instructions};
    CHECK_FALSE(coding_of(unknown));
}

TEST_CASE("the first event of the first set is the one that all others are related to") {
    const auto sets = sampled_sets();
    REQUIRE(!sets.empty());
    CHECK(sets[0][0] == find_event("cycles"));
    for (const auto& set : sets)
        for (const CounterEvent* event : set)
            REQUIRE(event);
}
