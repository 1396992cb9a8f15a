// Which sleeps last longer than what they wait for, at made-up looks. Times in microseconds.
#include "record/watch/threads/overdue_sleeps.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;
using State = ThreadMoment::State;

namespace {

constexpr uint32_t kPid = 4'190'003;

// It got a CPU at `from`, worked until `blocked`, and sleeps since then.
LookedAt sleeper(uint32_t tid, uint64_t from_us, uint64_t blocked_us) {
    LookedAt thread;
    thread.moment = {tid, kPid, 1, State::for_device};
    thread.moment.sleeps = true;
    thread.unblocked_ns = from_us * 1000;
    thread.blocked_ns = thread.waits_from_ns = thread.waits_until_ns = blocked_us * 1000;
    return thread;
}

std::vector<bool> overdue(std::vector<LookedAt> threads) {
    mark_overdue(threads);
    std::vector<bool> found;
    for (const LookedAt& thread : threads)
        found.push_back(thread.overdue);
    return found;
}

using Found = std::vector<bool>;

} // namespace

TEST_CASE("of two that look for one another's work, the one is overdue that slept before the other worked") {
    // 1 worked from 1000 to 2000 and sleeps; 2 worked from 4000 to 5000.
    CHECK(overdue({sleeper(1, 1000, 2000), sleeper(2, 4000, 5000)}) == Found{true, false});
    CHECK(overdue({sleeper(1, 4000, 5000), sleeper(2, 1000, 2000)}) == Found{false, true});
}

TEST_CASE("who wakes up, finds nothing and sleeps again has not worked") {
    CHECK(overdue({sleeper(1, 1000, 2000), sleeper(2, 5000, 5010)}) == Found{false, false});
    CHECK(overdue({sleeper(1, 1000, 2000), sleeper(2, 5000, 5060)}) == Found{true, false});
    LookedAt worker = sleeper(2, 5000, 5010); // a short answer of one that waits for questions
    worker.moment.state = State::for_work;
    worker.moment.sleeps = false;
    CHECK(overdue({sleeper(1, 1000, 2000), worker}) == Found{true, false});
    worker.moment.idles = true; // it is asked for little
    CHECK(overdue({sleeper(1, 1000, 2000), worker}) == Found{true, false});
}

TEST_CASE("a timer brings nothing, and one that keeps a period waits for nothing") {
    LookedAt timer = sleeper(2, 4000, 5000);
    timer.moment.idles = true;
    CHECK(overdue({sleeper(1, 1000, 2000), timer}) == Found{false, false});
    LookedAt keeps = sleeper(1, 1000, 2000);
    keeps.moment.at_set_time = true;
    CHECK(overdue({keeps, sleeper(2, 4000, 5000)}) == Found{false, false});
}

TEST_CASE("where switches are not known, no sleep is known to be overdue") {
    LookedAt first = sleeper(1, 0, 0), second = sleeper(2, 0, 0);
    CHECK(overdue({first, second}) == Found{false, false});
    CHECK(overdue({first, sleeper(2, 4000, 5000)}) == Found{false, false});
    CHECK(overdue({sleeper(1, 1000, 2000)}) == Found{false});
}
