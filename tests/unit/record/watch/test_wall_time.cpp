// What of the wall time a thread spent without a CPU, at made-up looks.
#include "record/watch/threads/wall_time.h"

#include <catch2/catch.hpp>

using plumb::record::LookedAt;
using plumb::record::WallTime;
using State = plumb::record::ThreadMoment::State;
namespace trace = plumb::trace;

namespace {

constexpr uint64_t kLook_ns = 10'000'000;

LookedAt running(uint64_t ran_ns, uint64_t delayed_ns, bool lacks_cpu = false) {
    LookedAt thread;
    thread.moment = {1, 1, 0, State::runs, 0, false};
    thread.elapsed_ns = kLook_ns;
    thread.ran_ns = ran_ns;
    thread.delayed_ns = delayed_ns;
    thread.lacks_cpu = lacks_cpu;
    return thread;
}

} // namespace

TEST_CASE("waits for a CPU that last longer than the time between two looks count in full, where they were") {
    trace::ThreadWall wall{};
    WallTime time(1, 0, [&](uint32_t, uint32_t, uint64_t) { return &wall; });
    uint64_t now_ns = 0;
    const auto follow = [&](uint64_t ran_ns, uint64_t delayed_ns) {
        now_ns += kLook_ns;
        time.follow(now_ns, {running(ran_ns, delayed_ns)}, {});
    };
    for (int turn = 0; turn < 10; ++turn) { // of four threads on one CPU; the kernel counts a wait when it ends
        follow(0, 0);
        follow(0, 0);
        follow(0, 0);
        follow(kLook_ns, 3 * kLook_ns);
    }
    for (int look = 0; look < 40; ++look)
        follow(kLook_ns, 0);
    time.settle();
    CHECK(wall.looks == 80);
    CHECK(wall.running_ns == 80 * kLook_ns);
    CHECK(static_cast<double>(wall.no_cpu_ns) == Approx(30 * kLook_ns).epsilon(0.05)); // of the first 40 looks
}

TEST_CASE("of a wait for a CPU that none of the looks around sees the end of, switches tell; without them it is not invented") {
    for (const bool switches : {true, false}) {
        trace::ThreadWall wall{};
        WallTime time(1, 0, [&](uint32_t, uint32_t, uint64_t) { return &wall; });
        uint64_t now_ns = 0;
        for (int turn = 0; turn < 4; ++turn) // of fifty threads
            for (int look = 0; look < 50; ++look) {
                const bool runs = look == 49;
                time.follow(now_ns += kLook_ns, {running(runs ? kLook_ns : 0, runs ? 49 * kLook_ns : 0, switches && !runs)}, {});
            }
        time.settle();
        CHECK(wall.looks == 200);
        if (switches)
            CHECK(static_cast<double>(wall.no_cpu_ns) == Approx(196 * kLook_ns).epsilon(0.02));
        else
            CHECK(wall.no_cpu_ns < 60 * kLook_ns);
    }
}
