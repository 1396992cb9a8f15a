// Each fault of a counter is seen, and named.
#include "record/counters/event_check.h"

#include <catch2/catch.hpp>

using namespace plumb::record;
using Catch::Matchers::Contains;

namespace {

constexpr KnownCount kBoth{980, 1020, 1000}, kFirst{590, 610, 600}, kBounds{80, 250, 0};

std::string fault(int64_t count) { return fault_of({count, {}, {}}, kBoth, kFirst); }

} // namespace

TEST_CASE("a right count has no fault") {
    CHECK(fault(1000).empty());
    CHECK(fault(981).empty());
    CHECK(fault(1019).empty());
    CHECK(fault_of({100, {}, {}}, kBounds, {}).empty());
    CHECK(fault_of({1000, 1000, 951}, kBoth, kFirst).empty());
}

TEST_CASE("a count that is some times too high or too low says how often") {
    CHECK_THAT(fault(16'000), Contains("16 times"));
    CHECK_THAT(fault(3'000), Contains("3 times"));
    CHECK_THAT(fault(400), Contains("0.40 times"));
    CHECK_THAT(fault(1021), Contains("1.02 times"));
}

TEST_CASE("a negative count, and none") {
    CHECK_THAT(fault(-7), Contains("-7"));
    CHECK_THAT(fault(0), Contains("nothing"));
}

TEST_CASE("a count of the first thread alone") {
    CHECK_THAT(fault(600), Contains("one of two threads"));
    CHECK_THAT(fault(500), Contains("0.50 times")); // half a count of both
    CHECK_THAT(fault_of({600, {}, {}}, kBoth, kBoth), Contains("0.60 times")); // one thread does as much as both
}

TEST_CASE("a counter that is shared with others is not scaled up") {
    const CounterValue shared{1000, 1000, 400};
    CHECK(running_share(shared) == Approx(0.4));
    CHECK_THAT(fault_of(shared, kBoth, kFirst), Contains("40 %"));
    CHECK(running_share({1000, {}, {}}) == 1);
    CHECK(running_share({0, 0, 0}) == 1);
}

TEST_CASE("a count outside of bounds says which") {
    CHECK_THAT(fault_of({20, {}, {}}, kBounds, kBounds), Contains("at least 80"));
    CHECK_THAT(fault_of({300, {}, {}}, kBounds, kBounds), Contains("at most 250"));
}
