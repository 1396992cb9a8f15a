#include "fake_trace.h"
#include "record/heap/large_blocks.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

using namespace plumb;
using namespace plumb::shim;
using plumb::test::fake_trace;

namespace {

constexpr uint64_t kMegabyte = 1 << 20, kBase = 0x7f0000000010;

void start() {
    start_large_blocks();
    fake_trace().maps.clear();
    fake_trace().full = false;
}

std::map<uint64_t, trace::LargeMap> living() {
    std::map<uint64_t, trace::LargeMap> found;
    for (const trace::LargeMap& map : fake_trace().maps)
        if (map.bytes != 0 && map.until_ns == 0)
            CHECK(found.emplace(map.address, map).second); // once
    return found;
}

} // namespace

TEST_CASE("large blocks that live are known, however many came and went") {
    start();
    const Guard guard;
    REQUIRE(guard);
    std::map<uint64_t, uint64_t> truth;
    for (uint64_t i = 0; i < 200'000; ++i) {
        const uint64_t address = kBase + i % 3000 * 4 * kMegabyte;
        if (truth.erase(address))
            large_block_ends(address);
        if (i % 3 != 2) {
            large_block_begins(guard, address, kMegabyte + i, trace::LargeMapKind::allocator, static_cast<uint32_t>(i));
            truth[address] = kMegabyte + i;
        }
    }
    CHECK(fake_trace().maps.size() <= 8192);
    const auto found = living();
    CHECK(found.size() + large_blocks_refused() >= truth.size());
    CHECK(large_blocks_refused() < 20'000); // 2,000 at a time of 8,192 places, of which an address leads to eight
    size_t known = 0;
    for (const auto& [address, bytes] : truth)
        if (const auto at = found.find(address); at != found.end()) {
            ++known;
            CHECK(at->second.bytes == bytes);
            CHECK(at->second.path == bytes - kMegabyte);
        }
    CHECK(known == found.size());
    CHECK(known > truth.size() * 95 / 100);
}

TEST_CASE("what ended stays known while there is room, and a missed end is the next one's beginning") {
    start();
    const Guard guard;
    REQUIRE(guard);
    for (int i = 0; i < 4; ++i) {
        large_block_begins(guard, kBase, kMegabyte + static_cast<uint64_t>(i), trace::LargeMapKind::allocator, 1);
        if (i != 2)
            large_block_ends(kBase);
    }
    REQUIRE(fake_trace().maps.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
        const trace::LargeMap& map = fake_trace().maps[i];
        CHECK(map.bytes == kMegabyte + i);
        CHECK(map.until_ns >= map.time_ns);
        CHECK(map.until_ns != 0);
    }
    CHECK(fake_trace().maps[2].until_ns <= fake_trace().maps[3].time_ns);
    large_block_ends(kBase + 64); // nothing there
    CHECK(living().empty());
}

TEST_CASE("a block that is moved ends before another thread begins one at its address") {
    start();
    const Guard guard;
    REQUIRE(guard);
    large_block_begins(guard, kBase, kMegabyte, trace::LargeMapKind::allocator, 1);
    const LargeBlockEnd end = large_block_may_end(kBase);
    CHECK(living().empty());
    large_block_begins(guard, kBase, 2 * kMegabyte, trace::LargeMapKind::allocator, 2); // the other thread's
    large_block_ended(end);
    const auto found = living();
    REQUIRE(found.size() == 1);
    CHECK(found.at(kBase).path == 2);
    large_block_ended(large_block_may_end(kBase + 64)); // nothing there
    CHECK(living().size() == 1);
}

TEST_CASE("a block that could not be moved goes on as it was") {
    start();
    const Guard guard;
    REQUIRE(guard);
    large_block_begins(guard, kBase, kMegabyte, trace::LargeMapKind::allocator, 1);
    const uint64_t began_ns = living().at(kBase).time_ns;
    large_block_goes_on(large_block_may_end(kBase));
    REQUIRE(living().size() == 1);
    CHECK(living().at(kBase).time_ns == began_ns);
    large_block_ends(kBase);
    CHECK(living().empty());
    CHECK(fake_trace().maps.size() == 1);
}

TEST_CASE("large blocks without room are counted") {
    start();
    const Guard guard;
    REQUIRE(guard);
    fake_trace().full = true;
    large_block_begins(guard, kBase, kMegabyte, trace::LargeMapKind::allocator, 1);
    CHECK(large_blocks_refused() == 1);
    fake_trace().full = false;
    large_block_begins(guard, kBase, kMegabyte, trace::LargeMapKind::allocator, 1);
    CHECK(living().size() == 1);
}

TEST_CASE("threads share the places of large blocks") {
    start();
    constexpr int kThreads = 4;
    std::vector<std::thread> threads;
    for (uint64_t own = 0; own < kThreads; ++own)
        threads.emplace_back([own] {
            const Guard guard;
            for (uint64_t i = 0; guard && i < 30'000; ++i) {
                const uint64_t address = kBase + (own * 200 + i % 200) * 4 * kMegabyte;
                large_block_ends(address);
                large_block_begins(guard, address, kMegabyte + i, trace::LargeMapKind::allocator, static_cast<uint32_t>(own));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    const auto found = living();
    CHECK(found.size() + large_blocks_refused() >= kThreads * 200);
    CHECK(found.size() > kThreads * 195);
    for (const auto& [address, map] : found) {
        CHECK(map.bytes >= kMegabyte + 29'800);
        CHECK(map.path == (address - kBase) / (800 * kMegabyte));
    }
}
