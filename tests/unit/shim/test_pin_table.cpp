// Who gets which position of a group's list: the rules alone, on a table in memory and made-up processes.
#include "record/pin/pin_table.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace plumb;
using namespace plumb::shim;

namespace {

std::set<uint64_t> dead;
bool is_alive(uint64_t owner) { return dead.count(owner) == 0; }

struct Fixture {
    std::unique_ptr<pin::Group> group = std::make_unique<pin::Group>();
    Fixture() { dead.clear(); }
    PinTable table(uint32_t positions) { return PinTable(*group, positions, is_alive); }
};

} // namespace

TEST_CASE_METHOD(Fixture, "positions are given out in order and wrap around") {
    const PinTable table = this->table(3);
    for (uint32_t thread = 0; thread < 7; ++thread) {
        const uint32_t entry = table.take(pin::owner(1, thread + 1));
        CHECK(entry == thread);
        CHECK(table.position_of(entry) == thread % 3);
        CHECK(table.wrapped(entry) == (thread >= 3));
    }
}

TEST_CASE_METHOD(Fixture, "what the dead and the departed held is taken again, lowest first") {
    const PinTable table = this->table(4);
    for (uint32_t pid = 1; pid <= 4; ++pid)
        table.take(pin::owner(pid, pid));
    dead.insert(pin::owner(2, 2));
    table.release(2, pin::owner(3, 3));
    CHECK(table.take(pin::owner(9, 9)) == 1);
    CHECK(table.take(pin::owner(10, 10)) == 2);
    CHECK(table.take(pin::owner(11, 11)) == 4);
    table.release(0, pin::owner(7, 7)); // not its holder
    CHECK(table.take(pin::owner(12, 12)) == 5);
}

TEST_CASE_METHOD(Fixture, "a process finds its entry again after exec, and what was reserved for it") {
    const PinTable table = this->table(4);
    table.take(pin::owner(5, 5));
    CHECK(table.take(pin::owner(6, 0)) == 1);
    CHECK(table.find_process(5) == 0);
    CHECK(table.find_process(6) == 1);
    CHECK(table.find_process(7) == kNoEntry);
    CHECK(table.hand_over(1, pin::owner(6, 0), pin::owner(6, 6)));
    CHECK_FALSE(table.hand_over(1, pin::owner(6, 0), pin::owner(8, 8)));
}

TEST_CASE_METHOD(Fixture, "a reservation is not free for siblings") {
    const PinTable table = this->table(4);
    CHECK(table.take(pin::owner(5, kComingProcess)) == 0);
    CHECK(table.take(pin::owner(6, 6)) == 1);
    CHECK(table.find_process(5) == kNoEntry); // for a child of 5, not for 5 itself
}

TEST_CASE_METHOD(Fixture, "blocks: each process owns as many positions as it has threads") {
    const PinTable table = this->table(8);
    CHECK(table.take_block(pin::owner(1, 1), 4) == 0);
    CHECK(table.take_block(pin::owner(2, 2), 4) == 4);
    CHECK(table.take_in_block(pin::owner(2, 3), 4, 4) == 5);
    CHECK(table.take_in_block(pin::owner(1, 4), 0, 4) == 1);
}

TEST_CASE_METHOD(Fixture, "a rank's block is its own by right, and wraps around within itself") {
    const PinTable table = this->table(8);
    table.take(pin::owner(9, 0)); // a launcher's reservation
    CHECK(table.take_in_block(pin::owner(1, 1), 0, 2) == 0);
    CHECK(table.take_in_block(pin::owner(1, 2), 0, 2) == 1);
    const uint32_t third = table.take_in_block(pin::owner(1, 3), 0, 2);
    CHECK(table.wrapped(third));
    CHECK(table.position_of(third) == 0);
}

TEST_CASE_METHOD(Fixture, "a full table gives nothing") {
    const PinTable table = this->table(2);
    for (uint32_t thread = 1; thread <= pin::kGroupEntries; ++thread)
        REQUIRE(table.take(pin::owner(1, thread)) != kNoEntry);
    CHECK(table.take(pin::owner(2, 2)) == kNoEntry);
    CHECK(table.take_in_block(pin::owner(2, 2), 0, 2) == kNoEntry);
}

TEST_CASE_METHOD(Fixture, "threads that take at the same time get different entries") {
    const PinTable table = this->table(16);
    constexpr uint32_t kThreads = 4, kEach = 500;
    std::vector<std::vector<uint32_t>> taken(kThreads);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (uint32_t i = 0; i < kEach; ++i)
                taken[t].push_back(table.take(pin::owner(t + 1, i + 1)));
        });
    for (std::thread& thread : threads)
        thread.join();
    std::set<uint32_t> all;
    for (const auto& entries : taken)
        all.insert(entries.begin(), entries.end());
    CHECK(all.size() == kThreads * kEach);
    CHECK(*all.rbegin() == kThreads * kEach - 1);
}
