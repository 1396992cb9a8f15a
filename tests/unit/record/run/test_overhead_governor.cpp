#include "record/run/overhead_governor.h"

#include <catch2/catch.hpp>

using plumb::record::OverheadGovernor;

namespace {
constexpr uint64_t kSecond = 1'000'000'000;
}

TEST_CASE("a recorder below its budget samples always") {
    OverheadGovernor budget(0.02);
    for (uint64_t second = 1; second < 20; ++second)
        budget.look(second * kSecond, second * kSecond / 100, second * kSecond / 100, second * kSecond);
    CHECK_FALSE(budget.is_throttling());
    CHECK(budget.weight() == 1);
    CHECK(budget.throttled_ns() == 0);
    for (int i = 0; i < 100; ++i)
        CHECK(budget.wants_slice());
}

TEST_CASE("above it the sampled slices get fewer, and each stands for more") {
    OverheadGovernor budget(0.01);
    uint64_t own = 0;
    for (uint64_t second = 1; second <= 3; ++second) {
        own += kSecond / 10;
        budget.look(second * kSecond, own, own, second * kSecond);
    }
    REQUIRE(budget.weight() == 4); // the first look only begins
    CHECK(budget.throttled_ns() == kSecond);
    uint64_t slices = 0;
    for (int i = 0; i < 40000; ++i)
        slices += budget.wants_slice();
    CHECK(static_cast<double>(slices * budget.weight()) == Approx(40000).epsilon(0.05));
    // Well below the budget again: back, step by step.
    for (uint64_t second = 4; second <= 6; ++second)
        budget.look(second * kSecond, own, own, second * kSecond);
    CHECK_FALSE(budget.is_throttling());
}

TEST_CASE("a run that sleeps is judged by wall time") {
    OverheadGovernor budget(0.02);
    for (uint64_t second = 1; second < 10; ++second)
        budget.look(second * kSecond, second * kSecond / 200, second * kSecond / 200, 0);
    CHECK_FALSE(budget.is_throttling());
}

TEST_CASE("samples stay where they are not what costs") {
    OverheadGovernor budget(0.02);
    for (uint64_t second = 1; second < 10; ++second)
        budget.look(second * kSecond, second * kSecond / 20, second * kSecond / 250, second * kSecond); // 5 %, 0.4 % of it
    CHECK_FALSE(budget.is_throttling());
}

TEST_CASE("of samples that come anyway those of whole slices are taken, one slice in so many") {
    const plumb::record::SampleChoice all{4, false}, some{4, true};
    uint64_t taken = 0;
    for (uint64_t slice = 0; slice < 40000; ++slice) {
        const uint64_t begin = slice * OverheadGovernor::kSlice_ns;
        CHECK(all.wants(begin));
        CHECK(some.wants(begin) == some.wants(begin + OverheadGovernor::kSlice_ns - 1));
        taken += some.wants(begin);
    }
    CHECK(static_cast<double>(taken * some.weight) == Approx(40000).epsilon(0.05));
}
