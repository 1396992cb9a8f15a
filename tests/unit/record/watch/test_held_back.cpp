// Who is held back by whom, at made-up looks, and where the wall time goes then.
#include "record/watch/threads/held_back.h"
#include "record/watch/threads/wall_time.h"

#include <catch2/catch.hpp>
#include <map>

using plumb::record::HeldBack;
using plumb::record::LookedAt;
using plumb::record::ThreadMoment;
using plumb::record::WallTime;
using State = ThreadMoment::State;
namespace trace = plumb::trace;

namespace {

using Look = std::vector<ThreadMoment>;

// Threads 1 (the first one, which waits for the end of thread 2), 2 and 3.
Look look(State second, State third, State first = State::for_end) {
    return {{1, 1, 0, first, first == State::for_end ? 2u : 0u, false}, {2, 1, 0, second, 0, false}, {3, 1, 0, third, 0, false}};
}

// Thread 2 works in `runs` of ten looks, and waits in the others.
std::vector<Look> pipeline(size_t runs, State slow = State::runs) {
    std::vector<Look> looks;
    for (size_t number = 0; number < 50; ++number)
        looks.push_back(look(number % 10 < runs ? State::runs : State::for_work, slow));
    return looks;
}

constexpr uint64_t kLook_ns = 10'000'000;

struct Times {
    std::map<uint32_t, double> running, no_cpu, waiting; // by thread: looks
};

// Follows the wall time over `looks`. With `woken_late`, each second look at a waiting thread finds that it could have run
// since the look before, without a CPU; else it has been blocked all the time.
Times follow(const std::vector<Look>& looks, bool woken_late = false) {
    std::map<uint32_t, trace::ThreadWall> walls;
    std::map<uint32_t, trace::BlockedSite> sites;
    WallTime wall(1, 0, [&](uint32_t tid, uint32_t, uint64_t) { return &walls[tid]; });
    uint64_t now_ns = 0;
    for (const Look& moments : looks) {
        now_ns += kLook_ns;
        std::vector<LookedAt> threads;
        for (const ThreadMoment& moment : moments) {
            LookedAt& thread = threads.emplace_back();
            thread.moment = moment;
            thread.elapsed_ns = kLook_ns;
            thread.ran_ns = moment.state == State::runs ? kLook_ns : 0;
            if (moment.state == State::runs)
                continue;
            thread.site = &sites[moment.tid];
            const bool is_woken = woken_late && now_ns / kLook_ns % 2 == 0;
            thread.delayed_ns = is_woken ? kLook_ns : 0;
        }
        wall.follow(now_ns, std::move(threads), {});
    }
    wall.settle();
    Times times;
    for (const auto& [tid, record] : walls) {
        times.running[tid] = static_cast<double>(record.running_ns) / kLook_ns;
        times.no_cpu[tid] = static_cast<double>(record.no_cpu_ns) / kLook_ns;
    }
    for (const auto& [tid, site] : sites)
        times.waiting[tid] = static_cast<double>(site.wall_ns) / kLook_ns;
    return times;
}

} // namespace

TEST_CASE("a thread that goes on until it waits for a slower one is not what the run waits for") {
    const Times times = follow(pipeline(5)); // the first thread has joined the fast one to the end
    CHECK(times.running.at(3) == Approx(50));
    CHECK(times.running.at(2) == Approx(0).margin(0.01));
}

TEST_CASE("it is held back from its waits on backwards, while the slower one goes on") {
    const std::vector<Look> looks = pipeline(5);
    const HeldBack held(looks);
    CHECK(held.at(0) == HeldBack::Holders{{1, {2}}});
    CHECK(held.at(44) == HeldBack::Holders{{1, {2}}});
    std::vector<Look> begins = looks;
    for (size_t number = 0; number < 20; ++number)
        begins[number] = look(State::runs, State::for_work); // the other way round: thread 3 waits for the first items
    const HeldBack later(begins);
    CHECK_FALSE(later.at(19).contains(1));
    CHECK(later.at(20) == HeldBack::Holders{{1, {2}}});
    std::vector<Look> ends = looks;
    for (size_t number = 40; number < 50; ++number)
        ends[number] = look(State::runs, State::runs); // thread 2 has no more to wait for
    CHECK(HeldBack(ends).at(40).empty());
    CHECK(HeldBack(ends).at(39) == HeldBack::Holders{{1, {2}}});
}

TEST_CASE("who hardly ever waits, or waits while others go on in turn, is held back by nobody") {
    for (const auto& holders : {HeldBack(pipeline(8)).at(0), HeldBack(pipeline(5, State::for_work)).at(0)})
        CHECK(holders.empty());
    std::vector<Look> turns = pipeline(0);
    for (size_t number = 0; number < turns.size(); number += 2)
        turns[number][2].state = State::for_work;
    CHECK(HeldBack(turns).at(1).empty());
}

TEST_CASE("neither a lock, nor a sleep, nor an idle thread holds others back") {
    std::vector<Look> at_lock = pipeline(5), asleep = pipeline(5, State::for_device), idle = asleep, device = asleep;
    for (Look& moments : at_lock)
        moments[1].at_lock = moments[1].state == State::for_work;
    for (Look& moments : asleep)
        moments[2].sleeps = true;
    for (Look& moments : idle)
        moments[2].idles = true;
    CHECK(HeldBack(at_lock).at(0).empty());
    CHECK(HeldBack(asleep).at(0).empty());
    CHECK(HeldBack(idle).at(0).empty());
    CHECK(HeldBack(device).at(0) == HeldBack::Holders{{1, {2}}}); // it writes each item to a file
}

TEST_CASE("a slower thread that stands at a lock for a moment still holds the other back before it") {
    std::vector<Look> looks = pipeline(5);
    looks[12][2].state = State::for_thread; // thread 2 runs then, and has it
    looks[12][2].waits_for = 2;
    const HeldBack held(looks);
    CHECK(held.at(12).empty());
    CHECK(held.at(11) == HeldBack::Holders{{1, {2}}});
}

TEST_CASE("two threads that hold each other back are equal") {
    std::vector<Look> looks;
    for (size_t number = 0; number < 50; ++number)
        looks.push_back(number % 5 == 0   ? look(State::runs, State::runs)
                        : number % 2 == 0 ? look(State::runs, State::for_work)
                                          : look(State::for_work, State::runs));
    const HeldBack held(looks);
    for (size_t number = 0; number < 50; number += 5)
        CHECK(held.at(number).size() < 2);
}

TEST_CASE("a waiting thread that was woken and had no CPU did not compute at other looks either") {
    const Times times = follow(std::vector<Look>(40, {{1, 1, 0, State::for_work, 0, false}}), true);
    CHECK(times.waiting.at(1) == Approx(20));
    CHECK(times.running.at(1) == Approx(20));
    CHECK(times.no_cpu.at(1) == Approx(20));
}
