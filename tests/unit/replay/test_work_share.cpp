#include "record/run/work_share.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using plumb::record::thread_cpu_ns;
using plumb::record::WorkShare;

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;

void burn(uint64_t ns) {
    for (const uint64_t end = thread_cpu_ns() + ns; thread_cpu_ns() < end;) {
    }
}

} // namespace

TEST_CASE("work has its head start at once, and its share as the run goes on") {
    WorkShare share(0.01, kMillisecond);
    CHECK(share.has_room(kSecond));
    CHECK_FALSE(share.is_short(kSecond));
    share.spend([] { burn(2 * kMillisecond); });
    const uint64_t spent = share.spent_ns();
    CHECK(spent >= 2 * kMillisecond);
    CHECK_FALSE(share.has_room(kSecond));
    CHECK_FALSE(share.has_room(kSecond + (spent - kMillisecond) * 99));
    CHECK(share.has_room(kSecond + (spent - kMillisecond) * 101));
    CHECK(share.is_short(kSecond + (spent - kMillisecond) * 101));
    CHECK_FALSE(share.is_short(kSecond + (2 * spent - kMillisecond) * 101));
}

TEST_CASE("the work's result is handed on, and work that fails was done as well") {
    WorkShare share(0.01, kMillisecond);
    CHECK(share.spend([] { return 42; }) == 42);
    const uint64_t before = share.spent_ns();
    CHECK_THROWS_AS(share.spend([]() -> int {
        burn(kMillisecond);
        throw std::runtime_error("no");
    }),
                    std::runtime_error);
    CHECK(share.spent_ns() >= before + kMillisecond);
}

TEST_CASE("a clock that goes back gives no time") {
    WorkShare share(1, 10);
    CHECK(share.has_room(kSecond));
    share.spend([] { burn(kMillisecond); });
    CHECK_FALSE(share.has_room(kSecond / 2));
}
