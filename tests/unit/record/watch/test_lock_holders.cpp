// What the holder of a lock did, from made-up looks: samples count only where it certainly held the lock.
#include "fake_tree.h"
#include "record/watch/threads/lock_holders.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint32_t kPid = 4'190'003, kWaits = kPid + 1, kHolds = kPid + 2, kOther = kPid + 3;
constexpr uint64_t kLook_ns = 10'000'000, kLock = 0x1000;
constexpr trace::NodeId kPlace = 7;

struct Look {
    Look() : threads(3) {
        threads[0].moment = {kWaits, kPid, 1, ThreadMoment::State::for_thread, kHolds};
        threads[0].site = &site;
        threads[0].waits_at = kLock;
        threads[0].waits_from_ns = threads[0].waits_until_ns = 4'000'000;
        threads[1].moment = {kHolds, kPid, 1, ThreadMoment::State::runs};
        threads[1].before = {kPlace, 8'000'000};
        threads[1].unblocked_ns = 2'000'000;
        threads[2].moment = {kOther, kPid, 1, ThreadMoment::State::runs};
    }
    const trace::LockHolder& holder() {
        holders.write(kLook_ns, threads);
        REQUIRE(threads[0].holder);
        return *threads[0].holder;
    }

    FakeTree tree;
    NodeTraceWriter file{tree.root() + "/node-x-1.plumb", 1 << 20, 1 << 20};
    LockHolders holders{file, 1 << 16};
    trace::BlockedSite site{};
    std::vector<LookedAt> threads;
};

} // namespace

TEST_CASE("a sample of the holder counts since the last of those that wait began to") {
    Look look;
    CHECK(look.holder().holder_path == kPlace);
    CHECK(look.holder().holder == kHolds);
    Look late;
    late.threads[0].waits_from_ns = 9'000'000; // it may have taken the lock after the sample
    CHECK(late.holder().holder_path == 0);
    Look two;
    two.threads[2] = two.threads[0];
    two.threads[2].moment.tid = kOther;
    two.threads[2].waits_from_ns = 9'000'000;
    CHECK(two.holder().holder_path == 0);
}

TEST_CASE("a holder that was blocked since its sample may have taken the lock later") {
    Look look;
    look.threads[1].unblocked_ns = 9'000'000;
    CHECK(look.holder().holder_path == 0);
    Look unknown;
    unknown.threads[1].unblocked_ns = 0;
    CHECK(unknown.holder().holder_path == 0);
}

TEST_CASE("a thread that was woken and has no CPU yet may be one that the lock was given to") {
    Look look;
    look.threads[2].is_woken = look.threads[2].lacks_cpu = true;
    CHECK(look.holder().holder_path == 0);
}

TEST_CASE("a sample behind the look is none of the lock's") {
    Look look;
    look.threads[1].before = {};
    look.threads[1].after = {kPlace, 11'000'000};
    CHECK(look.holder().holder_path == 0);
}

TEST_CASE("a holder that is blocked is seen where it is, and one without a CPU is called that") {
    Look look;
    trace::BlockedSite sleeps{};
    sleeps.path = 9;
    sleeps.system_call = 230;
    look.threads[1].site = &sleeps;
    CHECK((look.holder().holder_path == 9 && look.holder().holder_call == 230 && look.holder().flags == 0));
    Look lacks;
    lacks.threads[1].lacks_cpu = true;
    CHECK(lacks.holder().flags == trace::kHolderLacksCpu);
}
