// Which block an address lies in: each table alone, then all of them behind block_of().
#include "record/heap/heap_blocks.h"
#include "record/heap/heap_shadow.h"
#include "record/heap/large_block_index.h"
#include "record/heap/mapping_list.h"
#include "record/heap/sampled_blocks.h"

#include <catch2/catch.hpp>

#include <random>
#include <thread>
#include <vector>

using namespace plumb;
using namespace plumb::shim;

namespace {

struct Found {
    uint64_t start = 0, bytes = 0;
    trace::NodeId path = 0;
    bool known = false;
};

Found find_span(uint64_t address) {
    Found found;
    found.known = find_indexed_block(address, &found.start, &found.bytes, &found.path);
    return found;
}

Found find_mapping(uint64_t address) {
    Found found;
    found.known = mapping_find(address, &found.start, &found.bytes, &found.path);
    return found;
}

Found find_shadow(uint64_t address) {
    Found found;
    ShadowEntry entry{};
    found.known = shadow_find(address, kIndexedBlockBytes, &found.start, &entry);
    found.bytes = entry.bytes;
    found.path = entry.path;
    return found;
}

} // namespace

TEST_CASE("every byte of a block leads to it in the shadow table, and no byte beside it") {
    // Back to back, across the border of two parts of the table: 24 bytes have a size word, 8 and 16 have not.
    const uint64_t base = (uint64_t{9} << 26) - 0x4000;
    std::vector<std::pair<uint64_t, uint64_t>> blocks;
    uint64_t at = base;
    const uint64_t sizes[] = {24, 8, 16, 40000, 1, 17, 100, 0};
    for (uint32_t i = 0; i < 64; ++i) {
        const uint64_t bytes = sizes[i % 8];
        REQUIRE(shadow_store(at, i, bytes));
        blocks.emplace_back(at, bytes);
        at += (bytes + 47) & ~uint64_t{15};
    }
    for (uint32_t i = 0; i < 64; ++i) {
        const auto [start, bytes] = blocks[i];
        for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, bytes / 2, bytes - 1}) {
            if (offset >= bytes)
                continue;
            const Found found = find_shadow(start + offset);
            REQUIRE(found.known);
            CHECK(found.start == start);
            CHECK(found.bytes == bytes);
            CHECK(found.path == i);
        }
        CHECK_FALSE(find_shadow(start + bytes).known);
    }
    CHECK_FALSE(find_shadow(base - 1).known);
    for (const auto& [start, bytes] : blocks)
        CHECK(shadow_take(start).bytes == bytes);
    CHECK_FALSE(find_shadow(base + 5).known);
}

TEST_CASE("a size that looks like a block's beginning is not taken for one") {
    // All sizes whose upper bits could be mistaken for a path.
    const uint64_t base = 0x40000000;
    for (const uint64_t bytes : {uint64_t{0x3fffffff}, uint64_t{0x40000000}, uint64_t{0x7fffffff}, uint64_t{1} << 31,
                                 (uint64_t{1} << 40) + 77}) {
        REQUIRE(shadow_store(base, 5, bytes));
        for (const uint64_t offset : {15u, 16u, 32u, 48u, 60000u}) {
            const Found found = find_shadow(base + offset);
            REQUIRE(found.known);
            CHECK(found.start == base);
            CHECK(found.bytes == bytes);
        }
        CHECK(shadow_take(base).bytes == bytes);
        CHECK_FALSE(find_shadow(base + 16).known);
    }
}

TEST_CASE("blocks of 8 bytes that share 16 are told apart") {
    const uint64_t base = 0x50000000;
    REQUIRE(shadow_store(base, 1, 8));
    REQUIRE(shadow_store(base + 8, 2, 8));
    CHECK(find_shadow(base + 7).path == 1);
    CHECK(find_shadow(base + 8).path == 2);
    CHECK(find_shadow(base + 15).path == 2);
    CHECK_FALSE(find_shadow(base + 16).known);
    shadow_take(base + 8);
    CHECK_FALSE(find_shadow(base + 9).known);
    CHECK(find_shadow(base + 1).path == 1);
    shadow_take(base);
}

TEST_CASE("sampled blocks are found from inside") {
    const uint64_t base = 0x7e0000001230;
    REQUIRE(insert_sampled_block(base, {3, 10, 5000}));
    REQUIRE(insert_sampled_block(base + 5008 + 8, {4, 10, 8}));
    uint64_t start = 0;
    SampledBlock block{};
    for (const uint64_t offset : {0u, 1u, 2500u, 4999u}) {
        REQUIRE(find_sampled_block(base + offset, kIndexedBlockBytes, &start, &block));
        CHECK(start == base);
        CHECK(block.path == 3);
    }
    CHECK_FALSE(find_sampled_block(base - 1, kIndexedBlockBytes, &start, &block));
    CHECK_FALSE(find_sampled_block(base + 5000, kIndexedBlockBytes, &start, &block));
    REQUIRE(find_sampled_block(base + 5008 + 9, kIndexedBlockBytes, &start, &block));
    CHECK(block.path == 4);
    REQUIRE(take_sampled_block(base, &block));
    REQUIRE(take_sampled_block(base + 5008 + 8, &block));
    CHECK_FALSE(find_sampled_block(base + 1, kIndexedBlockBytes, &start, &block));
}

TEST_CASE("sampled blocks are found across pages in which none begins") {
    uint64_t start = 0;
    SampledBlock block{};
    // At the very end, at the beginning and in the middle of a page.
    for (const uint64_t base : {0x7e0000101ff0, 0x7e0000100000, 0x7e0000100810}) {
        REQUIRE(insert_sampled_block(base, {5, 10, 60000}));
        for (const uint64_t offset : {0u, 15u, 16u, 4095u, 4096u, 40000u, 59999u}) {
            REQUIRE(find_sampled_block(base + offset, kIndexedBlockBytes, &start, &block));
            CHECK(start == base);
        }
        CHECK_FALSE(find_sampled_block(base + 60000, kIndexedBlockBytes, &start, &block));
        CHECK_FALSE(find_sampled_block(base + 40000, 39000, &start, &block));
        CHECK_FALSE(find_sampled_block(base - 16, kIndexedBlockBytes, &start, &block));
        REQUIRE(take_sampled_block(base, &block));
    }
    for (const uint64_t address : {0u, 8u, 4096u, 10000u})
        CHECK_FALSE(find_sampled_block(address, kIndexedBlockBytes, &start, &block));
}

TEST_CASE("large blocks of every size and place are found from their first to their last byte") {
    std::mt19937_64 random(7);
    uint64_t at = 0x100000;
    struct Block {
        uint64_t start, bytes;
    };
    std::vector<Block> blocks;
    for (uint32_t i = 0; i < 3000; ++i) {
        const uint32_t bits = 16 + random() % 18;
        const uint64_t bytes = (uint64_t{1} << bits) + random() % (uint64_t{1} << bits);
        at += 16 + (random() % 3 ? 0 : random() % 300000 * 16);
        blocks.push_back({at, bytes});
        index_large_block(at, bytes, i + 1);
        at = (at + bytes + 15) & ~uint64_t{15};
    }
    REQUIRE(at < uint64_t{1} << 47);
    for (uint32_t i = 0; i < blocks.size(); ++i) {
        const auto [start, bytes] = blocks[i];
        for (const uint64_t offset : {uint64_t{0}, random() % bytes, bytes - 1}) {
            const Found found = find_span(start + offset);
            REQUIRE(found.known);
            REQUIRE(found.start == start);
            REQUIRE(found.bytes == bytes);
            REQUIRE(found.path == i + 1);
        }
        REQUIRE_FALSE(find_span(start - 1).known);
    }
    for (const auto& [start, bytes] : blocks) {
        unindex_large_block(start, bytes);
        REQUIRE_FALSE(find_span(start + bytes / 2).known);
    }
    index_large_block(0x100000, kIndexedBlockBytes - 1, 1); // not a large one
    CHECK_FALSE(find_span(0x100001).known);
}

TEST_CASE("what finds no room among the large blocks is not found and disturbs nothing") {
    constexpr uint64_t kCount = 200000;
    const auto start = [](uint64_t i) { return 0x10000000 + i * (kIndexedBlockBytes + 16); };
    for (uint64_t i = 0; i < kCount; ++i)
        index_large_block(start(i), kIndexedBlockBytes, static_cast<trace::NodeId>(i));
    uint64_t found = 0;
    for (uint64_t i = 0; i < kCount; ++i)
        if (const Found one = find_span(start(i) + 100); one.known) {
            ++found;
            REQUIRE(one.path == i);
        }
    CHECK(found > 60000);
    CHECK(found < kCount);
    for (uint64_t i = 0; i < kCount; ++i)
        unindex_large_block(start(i), kIndexedBlockBytes);
    for (uint64_t i = 0; i < kCount; ++i)
        REQUIRE_FALSE(find_span(start(i) + 100).known);
}

TEST_CASE("a mapping shrinks from its ends, is torn in two and is replaced") {
    const uint64_t base = 0x7d0000000000, mib = 1 << 20;
    mapping_insert(base, 10 * mib, 1);
    CHECK(find_mapping(base).known);
    CHECK(find_mapping(base + 10 * mib - 1).bytes == 10 * mib);
    CHECK_FALSE(find_mapping(base + 10 * mib).known);
    mapping_remove(base, mib);
    CHECK_FALSE(find_mapping(base + mib - 1).known);
    CHECK(find_mapping(base + mib).bytes == 9 * mib);
    mapping_remove(base + 9 * mib, 5 * mib);
    CHECK(find_mapping(base + mib).bytes == 8 * mib);
    CHECK_FALSE(find_mapping(base + 9 * mib).known);
    mapping_remove(base + 4 * mib, 4096);
    CHECK(find_mapping(base + 2 * mib).bytes == 3 * mib);
    CHECK_FALSE(find_mapping(base + 4 * mib).known);
    CHECK(find_mapping(base + 4 * mib + 4096).start == base + 4 * mib + 4096);
    CHECK(find_mapping(base + 4 * mib + 4096).path == 1);
    mapping_insert(base + 3 * mib, 2 * mib, 2);
    CHECK(find_mapping(base + 3 * mib).path == 2);
    CHECK(find_mapping(base + 3 * mib - 1).path == 1);
    CHECK(find_mapping(base + 5 * mib).path == 1);
    mapping_remove(base, 16 * mib);
    for (uint64_t at = 0; at < 16; ++at)
        CHECK_FALSE(find_mapping(base + at * mib + 5).known);
}

TEST_CASE("what the kernel refuses to unmap is known again") {
    const uint64_t base = 0x7d1000000000, mib = 1 << 20;
    mapping_insert(base, 4 * mib, 1);
    mapping_insert(base + 6 * mib, 4 * mib, 2);
    RemovedMappings removed;
    mapping_remove(base + mib, 7 * mib, &removed); // parts of both
    CHECK_FALSE(find_mapping(base + 2 * mib).known);
    mapping_restore(removed);
    CHECK(find_mapping(base).path == 1);
    CHECK(find_mapping(base + 4 * mib - 1).path == 1);
    CHECK_FALSE(find_mapping(base + 5 * mib).known); // was not mapped before
    CHECK(find_mapping(base + 7 * mib).path == 2);
    CHECK(find_mapping(base + 9 * mib).path == 2);
    mapping_remove(base, 16 * mib);
}

TEST_CASE("threads map and unmap at once") {
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (uint64_t t = 0; t < 4; ++t)
        threads.emplace_back([t, &wrong] {
            for (uint64_t round = 0; round < 2000; ++round) {
                const uint64_t start = 0x7c0000000000 + (t << 32) + (round % 7 << 24);
                mapping_insert(start, 1 << 20, static_cast<trace::NodeId>(t + 1));
                const Found found = find_mapping(start + 77);
                wrong[t] += !found.known || found.start != start || found.path != t + 1;
                mapping_remove(start, 1 << 20);
                wrong[t] += find_mapping(start + 77).known;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("a heap block inside a mapping comes first, then the mapping; the stack before both") {
    BlockInfo block{};
    const uint64_t base = 0x7b0000000000;
    mapping_insert(base, 8 << 20, 1);
    index_large_block(base + 4096, 1 << 20, 2);
    REQUIRE(shadow_store(base + (4 << 20), 3, 100));
    REQUIRE(block_of(base + 5, &block));
    CHECK(block.kind == trace::BlockKind::mapping);
    CHECK(block.start == base);
    CHECK(block.bytes == 8 << 20);
    REQUIRE(block_of(base + 4096 + 77777, &block));
    CHECK(block.kind == trace::BlockKind::heap);
    CHECK(block.path == 2);
    CHECK(block.start == base + 4096);
    REQUIRE(block_of(base + (4 << 20) + 99, &block));
    CHECK(block.kind == trace::BlockKind::heap);
    CHECK(block.path == 3);
    CHECK(block.bytes == 100);
    REQUIRE(block_of(base + (4 << 20) + 100, &block));
    CHECK(block.kind == trace::BlockKind::mapping);
    shadow_take(base + (4 << 20));
    unindex_large_block(base + 4096, 1 << 20);
    mapping_remove(base, 8 << 20);
    CHECK_FALSE(block_of(base + 5, &block));
    CHECK_FALSE(block_of(0, &block));
    CHECK_FALSE(block_of(UINT64_MAX, &block));

    const uint64_t here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    const Guard guard;
    REQUIRE(guard);
    learn_stack(guard);
    REQUIRE(block_of(here, &block));
    CHECK(block.kind == trace::BlockKind::stack);
    CHECK(here - block.start < block.bytes);
}
