#include "record/run/sampling_rate.h"

#include <catch2/catch.hpp>

using plumb::record::SamplingRate;

namespace {
constexpr uint64_t kSecond = 1'000'000'000;
}

TEST_CASE("a run is sampled densely in its first seconds, then slowly") {
    SamplingRate rate(5 * kSecond);
    CHECK_FALSE(rate.look(6 * kSecond, 1));
    CHECK_FALSE(rate.look(7 * kSecond - 1, 1));
    CHECK(rate.look(7 * kSecond + kSecond / 2, 2));
    CHECK(rate.look(100 * kSecond, 3));
}

TEST_CASE("where threads begin all the time, long periods would miss most of them") {
    SamplingRate rate(0);
    uint64_t begun = 0;
    for (uint64_t second = 1; second <= 4; ++second)
        CHECK_FALSE(rate.look(second * kSecond, begun += 50));
    CHECK(rate.look(5 * kSecond, begun += 2));
    CHECK(rate.look(6 * kSecond, begun += 10)); // not enough to go back
    CHECK(rate.look(6 * kSecond + 1, begun + 1000)); // too early to say
    CHECK_FALSE(rate.look(7 * kSecond, begun += 50));
    CHECK_FALSE(rate.look(8 * kSecond, begun += 10)); // nor to be slow again
}
