// Whom the wall time depends on, at made-up moments whose answer is plain.
#include "record/watch/threads/wait_chain.h"
#include "record/watch/threads/wall_time.h"

#include <catch2/catch.hpp>
#include <map>

using plumb::record::ThreadMoment;
using plumb::record::WaitChain;
using State = ThreadMoment::State;

namespace {

std::map<uint32_t, double> ends_of(const std::vector<ThreadMoment>& threads, uint32_t from = 1) {
    WaitChain chain(threads);
    chain.follow(from);
    std::map<uint32_t, double> shares;
    double sum = 0;
    for (const WaitChain::Share& end : chain.ends()) {
        shares[threads[end.thread].tid] += end.share;
        sum += end.share;
    }
    CHECK(sum == Approx(1));
    return shares;
}

using Ends = std::map<uint32_t, double>;

} // namespace

TEST_CASE("a chain of a join and a lock ends at the holder") {
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_thread, 2, false},
                                            {2, 1, 0, State::for_thread, 3, false},
                                            {3, 1, 0, State::for_device, 0, false},
                                            {4, 1, 0, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{3, 1.0}});
    WaitChain chain(threads);
    chain.follow(1);
    CHECK(chain.links().size() == 2);
    CHECK_FALSE(chain.is_alone(2)); // thread 4 runs
}

TEST_CASE("others that sleep for some time leave a moment quiet, those that sleep until a time do not") {
    ThreadMoment sleeps{2, 1, 0, State::for_device, 0, false, {}, 0, true}, writes{2, 1, 0, State::for_device, 0, false};
    const ThreadMoment first{1, 1, 0, State::for_device, 0, false, {}, 0, true};
    const auto is_quiet = [&](const ThreadMoment& other) {
        const std::vector<ThreadMoment> threads{first, other};
        return WaitChain(threads).is_quiet(0);
    };
    CHECK(is_quiet(sleeps));
    const std::vector<ThreadMoment> both{first, sleeps};
    CHECK_FALSE(WaitChain(both).is_alone(0));
    CHECK_FALSE(is_quiet(writes));
    CHECK_FALSE(is_quiet({2, 1, 0, State::runs, 0, false}));
    CHECK(is_quiet({2, 1, 0, State::for_work, 0, false}));
    sleeps.at_set_time = true;
    CHECK_FALSE(is_quiet(sleeps));
    sleeps.idles = true;
    CHECK(is_quiet(sleeps));
}

TEST_CASE("where the waker is not known, the threads that run share it") {
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_work, 0, false},
                                            {2, 1, 0, State::runs, 0, false},
                                            {3, 1, 0, State::runs, 0, false},
                                            {4, 1, 0, State::for_device, 0, false},
                                            {9, 9, 0, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{2, 0.5}, {3, 0.5}});
}

TEST_CASE("where the waker is not known, threads that wait for a lock share it with those that run, through the holder") {
    // A pool of four of which one computes and three wait for what it holds; the first thread waits for their results.
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_work, 0, false},  {2, 1, 0, State::runs, 0, false},
                                            {3, 1, 0, State::for_thread, 2, false}, {4, 1, 0, State::for_thread, 2, false},
                                            {5, 1, 0, State::for_thread, 2, false}, {9, 9, 0, State::for_thread, 9, false}};
    CHECK(ends_of(threads) == Ends{{2, 1.0}});
    WaitChain chain(threads);
    chain.follow(1);
    double at_the_lock = 0;
    for (const WaitChain::Share& link : chain.links())
        at_the_lock += link.share;
    CHECK(at_the_lock == Approx(0.75)); // without the lock the four would need a quarter of the time
    CHECK(chain.awaited_by(0) == std::vector<size_t>{1}); // nobody waits for the others to do something now
}

TEST_CASE("the same for a lock that does not say who holds it: whoever waits for it waits for those that run") {
    ThreadMoment at_lock{3, 1, 0, State::for_work, 0, false};
    at_lock.at_lock = true;
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_work, 0, false}, {2, 1, 0, State::runs, 0, false}, at_lock};
    CHECK(ends_of(threads) == Ends{{2, 1.0}});
    WaitChain chain(threads);
    chain.follow(1);
    double through_the_lock = 0;
    for (const WaitChain::Edge& edge : chain.edges())
        through_the_lock += edge.from == 2 && edge.to == 1 ? edge.share : 0;
    CHECK(through_the_lock == Approx(0.5));
}

TEST_CASE("if nobody runs, it is who waits for a device, but no timer") {
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_work, 0, false},
                                            {2, 1, 0, State::for_device, 0, true},
                                            {3, 1, 0, State::for_device, 0, false}};
    CHECK(ends_of(threads) == Ends{{3, 1.0}});
    const std::vector<ThreadMoment> timer_alone{{1, 1, 0, State::for_work, 0, false}, {2, 1, 0, State::for_device, 0, true}};
    CHECK(ends_of(timer_alone) == Ends{{1, 1.0}});
}

TEST_CASE("if nobody runs or waits for a device, who waits for a child brings what the others of its process wait for") {
    std::vector<ThreadMoment> threads{{1, 1, 0, State::for_work, 0, false},
                                      {2, 1, 0, State::for_child, 9, false},
                                      {3, 1, 0, State::for_work, 0, false},
                                      {9, 9, 1, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{9, 1.0}});
    threads[1].state = State::for_input; // from whom is not known: no reason to go there
    CHECK(ends_of(threads) == Ends{{1, 1.0}});
    threads[1].state = State::for_child;
    threads[2].state = State::for_device;
    CHECK(ends_of(threads) == Ends{{3, 1.0}});
    threads[2].state = State::runs;
    CHECK(ends_of(threads) == Ends{{3, 1.0}});
}

TEST_CASE("who waits for a file, a lock or an end for nearly all its life does not idle") {
    CHECK(plumb::record::may_idle(State::for_work, false));
    CHECK(plumb::record::may_idle(State::for_input, false));
    CHECK(plumb::record::may_idle(State::for_device, false)); // a timer
    CHECK_FALSE(plumb::record::may_idle(State::for_device, true));
    for (const State state : {State::for_thread, State::for_end, State::for_child, State::runs})
        CHECK_FALSE(plumb::record::may_idle(state, false));
}

TEST_CASE("a parent waits for its children's first threads, or for the one that it names") {
    std::vector<ThreadMoment> threads{{1, 1, 0, State::for_child, 0, false},
                                      {5, 5, 1, State::runs, 0, false},
                                      {6, 6, 1, State::for_device, 0, false},
                                      {7, 6, 1, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{5, 0.5}, {6, 0.5}});
    threads[0].waits_for = 6;
    CHECK(ends_of(threads) == Ends{{6, 1.0}});
}

TEST_CASE("a reader of a pipe waits for whoever runs in any process") {
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_input, 0, false}, {5, 5, 1, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{5, 1.0}});
}

TEST_CASE("a reader of a pipe waits for the process that has the other end, whoever else runs") {
    std::vector<ThreadMoment> threads{{1, 1, 0, State::for_peer, 0, false, {5}},
                                      {5, 5, 1, State::for_device, 0, false},
                                      {6, 5, 1, State::runs, 0, false},
                                      {9, 9, 1, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{6, 1.0}});
    threads[2].state = State::for_device; // nobody of it runs: the device that it waits for
    CHECK(ends_of(threads) == Ends{{5, 0.5}, {6, 0.5}});
    threads[1].state = threads[2].state = State::for_child; // it waits itself
    CHECK(ends_of(threads) == Ends{{5, 1.0}});
}

TEST_CASE("who ran before it began to wait is what the run depended on for that part") {
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::for_end, 2, false, {}, 0.25}, {2, 1, 0, State::runs, 0, false}};
    CHECK(ends_of(threads) == Ends{{1, 0.25}, {2, 0.75}});
    WaitChain chain(threads);
    chain.follow(1);
    REQUIRE(chain.ends().size() == 2);
    CHECK(chain.ends()[0].ran);
    CHECK_FALSE(chain.ends()[1].ran);
}

TEST_CASE("with hindsight a join leads to the thread that ended it, from its begin on") {
    // The first thread joins 2, which ends at the third look, and then 3, which has waited for a lock of 2.
    const ThreadMoment joins_2{1, 1, 0, State::for_end, 2, false}, joins_3{1, 1, 0, State::for_end, 3, false};
    const ThreadMoment sleeps{2, 1, 0, State::for_device, 0, false}, locked{3, 1, 0, State::for_thread, 2, false};
    const ThreadMoment runs_1{1, 1, 0, State::runs, 0, false}, runs_3{3, 1, 0, State::runs, 0, false};
    CHECK(plumb::record::roots_in_hindsight({{runs_1}, {joins_2, sleeps, locked}, {joins_2, sleeps, locked}, {joins_3, runs_3}, {runs_1}}, 1) ==
          std::vector<uint32_t>{1, 3, 3, 3, 1});
}

TEST_CASE("with hindsight a thread that sleeps until another is done is not what the run waited for") {
    const ThreadMoment runs{1, 1, 0, State::runs, 0, false}, joins{1, 1, 0, State::for_end, 2, false};
    ThreadMoment sleeps{2, 1, 0, State::for_device, 0, false, {}, 0, true};
    CHECK(plumb::record::roots_in_hindsight({{runs, sleeps}, {runs, sleeps}, {joins, sleeps}}, 1) == std::vector<uint32_t>{1, 1, 2});
    // Before it saw that, the other one had come there by itself: a lock that the sleeper held then is what that one waited for.
    const ThreadMoment locked{1, 1, 0, State::for_thread, 2, false}, syncs{2, 1, 0, State::for_device, 0, false};
    CHECK(plumb::record::roots_in_hindsight({{locked, syncs}, {runs, sleeps}, {runs, sleeps}, {joins, sleeps}}, 1) ==
          std::vector<uint32_t>{1, 1, 1, 2});
    CHECK(plumb::record::roots_in_hindsight({{locked, syncs}, {locked, syncs}, {locked, syncs}, {runs, sleeps}, {joins, syncs}}, 1) ==
          std::vector<uint32_t>{2, 2, 2, 1, 2}); // it works itself more than it looks
    sleeps.idles = true; // by design
    CHECK(plumb::record::roots_in_hindsight({{runs, sleeps}, {runs, sleeps}, {joins, sleeps}}, 1) == std::vector<uint32_t>{1, 1, 1});
    ThreadMoment writes{2, 1, 0, State::for_device, 0, false};
    CHECK(plumb::record::roots_in_hindsight({{runs, writes}, {joins, writes}}, 1) == std::vector<uint32_t>{2, 2});
}

TEST_CASE("with hindsight the child that ended first ended a wait for any of them; before it, its parent counts") {
    const ThreadMoment waits{1, 1, 0, State::for_child, 0, false}, runs{1, 1, 0, State::runs, 0, false};
    const ThreadMoment first{5, 5, 1, State::runs, 0, false}, second{6, 6, 1, State::runs, 0, false};
    CHECK(plumb::record::roots_in_hindsight({{runs}, {waits, first, second}, {waits, second}, {runs}}, 1) ==
          std::vector<uint32_t>{1, 6, 6, 1}); // the second one kept it waiting to the end
    CHECK(plumb::record::roots_in_hindsight({{waits, first}, {runs}, {waits, second}}, 1) == std::vector<uint32_t>{5, 1, 6});
}

TEST_CASE("circles, unknown threads and a missing first thread end the chain") {
    CHECK(ends_of({{1, 1, 0, State::for_thread, 2, false}, {2, 1, 0, State::for_thread, 1, false}}) == Ends{{1, 1.0}});
    CHECK(ends_of({{1, 1, 0, State::for_thread, 77, false}}) == Ends{{1, 1.0}});
    CHECK(ends_of({{1, 1, 0, State::unknown, 0, false}}) == Ends{{1, 1.0}});
    const std::vector<ThreadMoment> threads{{1, 1, 0, State::runs, 0, false}};
    WaitChain chain(threads);
    chain.follow(2);
    CHECK(chain.ends().empty());
}

TEST_CASE("many children that wait for one another's children take bounded work") {
    std::vector<ThreadMoment> threads;
    for (uint32_t tid = 1; tid <= 600; ++tid)
        threads.push_back({tid, tid, tid == 1 ? 0u : 1u, tid % 2 ? State::for_input : State::for_child, 0, false});
    for (uint32_t tid = 1001; tid <= 1300; ++tid)
        threads.push_back({tid, tid, 1, State::runs, 0, false});
    WaitChain chain(threads);
    chain.follow(1);
    double sum = 0;
    for (const WaitChain::Share& end : chain.ends())
        sum += end.share;
    CHECK(sum == Approx(1));
    CHECK(chain.ends().size() <= 5000);
}
