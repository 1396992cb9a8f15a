// The lock of the MPI tables: its owner's way by plain stores, and what becomes of it when other threads come.
#include "fake_trace.h"
#include "record/mpi/tables/table_lock.h"
#include "record/process/trace_writer.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace plumb;
using namespace plumb::shim::mpi;

namespace {

struct Shared {
    TableLock lock{};
    std::atomic<int> inside{0};
    std::atomic<bool> together{false};
    uint64_t count = 0; // under the lock
};

// Takes the lock so often; how often it got it.
uint64_t take_often(Shared& shared, int times) {
    uint64_t taken = 0;
    for (int i = 0; i < times; ++i) {
        const shim::Guard guard;
        const Locked locked(shared.lock);
        if (!locked)
            continue;
        if (shared.inside.fetch_add(1, std::memory_order_relaxed) != 0)
            shared.together = true;
        ++shared.count;
        ++taken;
        shared.inside.fetch_sub(1, std::memory_order_relaxed);
    }
    return taken;
}

} // namespace

TEST_CASE("the lock's owner takes it again and again", "[mpi]") {
    test::fake_trace() = {};
    Shared shared;
    CHECK(take_often(shared, 1000) == 1000);
    CHECK(shared.count == 1000);
    CHECK(shared.lock.refused() == 0);
}

TEST_CASE("no two threads hold the lock, whoever comes when", "[mpi]") {
    test::fake_trace() = {};
    for (int round = 0; round < 300; ++round) {
        Shared shared;
        std::atomic<uint64_t> taken{0};
        std::vector<std::thread> threads;
        for (int number = 0; number < 3; ++number) // the first one there owns it; all begin at about the same time
            threads.emplace_back([&shared, &taken, number, round] {
                for (volatile int wait = 0; wait < number * round * 10;)
                    wait = wait + 1;
                taken += take_often(shared, 300);
            });
        for (std::thread& thread : threads)
            thread.join();
        CHECK_FALSE(shared.together);
        CHECK(shared.count == taken);
        CHECK(taken + shared.lock.refused() == 900);
    }
}

TEST_CASE("a thread that waits gets the lock when its owner leaves, and no sooner", "[mpi]") {
    test::fake_trace() = {};
    Shared shared;
    std::atomic<bool> owned{false}, waiting{false};
    std::thread owner([&] {
        const shim::Guard guard;
        const Locked locked(shared.lock);
        owned = true;
        while (!waiting)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        shared.count = 1;
    });
    while (!owned)
        std::this_thread::yield();
    {
        const shim::Guard guard;
        waiting = true;
        const Locked locked(shared.lock);
        REQUIRE(locked);
        CHECK(shared.count == 1);
    }
    owner.join();
    CHECK(take_often(shared, 10) == 10);
}
