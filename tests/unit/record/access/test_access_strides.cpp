// Strided walks that crowd into few sets: geometry of caches, what is kept of samples, and what is written.
#include "fake_tree.h"
#include "platform/cache_levels.h"
#include "record/access/walks/access_strides.h"
#include "record/calibrate/walk_timing.h"
#include "trace/file/records.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;
using plumb::platform::CacheLevel;

namespace {

const std::vector<CacheLevel> kCaches = {{1, 64, 8, 64}, {2, 1024, 8, 64}, {3, 32768, 16, 64}};

} // namespace

TEST_CASE("sets that a walk uses") {
    const CacheLevel& first = kCaches[0];
    const auto rows = platform::set_use(first, 16384, 512);
    CHECK(rows.lines == 512);
    CHECK(rows.sets == 1);
    CHECK(rows.left_over == 504);
    const auto padded = platform::set_use(first, 16384 + 64, 512);
    CHECK(padded.sets == 64);
    CHECK(padded.left_over == 0);
    const auto side_by_side = platform::set_use(first, 8, 512);
    CHECK(side_by_side.lines == 64);
    CHECK(side_by_side.left_over == 0);
    CHECK(platform::set_use(kCaches[1], 16384, 512).sets == 4);
}

namespace {

// Samples of an instruction that walks `rows` rows, column after column, spread over the walks.
void walk(AccessStrides& strides, uint64_t instruction, uint64_t base, int64_t stride, uint64_t rows, int samples) {
    for (int i = 0; i < samples; ++i) {
        const uint64_t row = static_cast<uint64_t>(i) * 37 % rows, column = static_cast<uint64_t>(i) * 11;
        SampledAccess access;
        access.pid = 100;
        access.time_ns = 1000 + static_cast<uint64_t>(i);
        access.weight_ns = 1'000'000;
        access.instruction = instruction;
        access.address = base + row * static_cast<uint64_t>(stride) + column * 8;
        access.width = 8;
        access.flags = trace::kAlignLoad;
        access.move = LoopMove{stride, rows - row, false};
        strides.take(access);
    }
}

std::vector<trace::AccessStride> written(AccessStrides& strides) {
    const FakeTree folder;
    const std::string path = folder.root() + "/node.plumb";
    NodeTraceWriter file(path, 1 << 20, 1 << 20);
    strides.write(file);
    file.close();
    std::vector<trace::AccessStride> records;
    trace::TraceReader reader(path);
    trace::for_each_record(reader, [&](const trace::AccessStride& record) { records.push_back(record); });
    return records;
}

} // namespace

TEST_CASE("the data caches of a CPU") {
    const FakeTree machine;
    const auto cache = [&](int index, const char* level, const char* type, const char* sets, const char* ways) {
        const std::string folder = "sys/devices/system/cpu/cpu3/cache/index" + std::to_string(index) + "/";
        machine.write(folder + "level", level);
        machine.write(folder + "type", type);
        machine.write(folder + "number_of_sets", sets);
        machine.write(folder + "ways_of_associativity", ways);
        machine.write(folder + "coherency_line_size", "64\n");
    };
    cache(0, "2\n", "Unified\n", "2048\n", "16\n");
    cache(1, "1\n", "Instruction\n", "64\n", "8\n");
    cache(2, "1\n", "Data\n", "64\n", "12\n");
    cache(3, "3\n", "Unified\n", "\n", "16\n"); // a hypervisor that does not say
    const auto levels = platform::read_cache_levels(machine.root(), 3);
    REQUIRE(levels.size() == 2);
    CHECK(levels[0].level == 1);
    CHECK(levels[0].bytes() == 48 * 1024);
    CHECK(levels[1].sets == 2048);
    CHECK(platform::read_cache_levels(machine.root(), 0).empty());
}

TEST_CASE("a walk that crowds into few sets is written, with what it would cost with longer rows") {
    AccessStrides strides(kCaches);
    walk(strides, 0x401000, 0x10000000, 16384, 512, 150);
    walk(strides, 0x402000, 0x20000000, 16384 + 64, 512, 200); // the cured one
    walk(strides, 0x403000, 0x30000000, 8, 512, 200);          // along the rows
    walk(strides, 0x404000, 0x40000000, 16384, 8, 200);        // blocks: few lines
    walk(strides, 0x405000, 0x50000000, 16384, 100'000, 200);  // more lines than caches hold in any case
    const auto records = written(strides);
    REQUIRE(records.size() == 1);
    const trace::AccessStride& record = records[0];
    CHECK(record.pid == 100);
    CHECK(record.address == 0x401000);
    CHECK(record.flags == trace::kAlignLoad);
    CHECK(record.stride == 16384);
    CHECK(record.padded_stride == 16448);
    CHECK(record.walk == 512);
    CHECK(record.advance == 88); // eleven columns from each sample to the next
    CHECK(record.level == 2);
    CHECK(record.sets == 1024);
    CHECK(record.sets_used == 4);
    CHECK(record.ways == 8);
    CHECK(record.samples == 150);
    CHECK(record.moved_time_ns == 150'000'000);
    CHECK(record.first_ns == 1000);
    CHECK(record.last_ns == 1149);
    CHECK(record.seen_ps > 0);
    CHECK(record.padded_ps > 0);
    CHECK(written(strides).empty());
}

TEST_CASE("a process that ended is judged then; the stride that most samples have counts") {
    AccessStrides strides(kCaches);
    walk(strides, 0x401000, 0x10000000, 4096, 256, 40);
    walk(strides, 0x401000, 0x20000000, 8192, 256, 300);
    walk(strides, 0x402000, 0x10000000, 4096, 256, 10); // too few to say
    strides.forget(100);
    strides.forget(100);
    const auto records = written(strides);
    REQUIRE(records.size() == 1);
    CHECK(records[0].stride == 8192);
    CHECK(records[0].samples == 340);
    CHECK(records[0].moved_samples < 300);
    CHECK(records[0].moved_samples >= 200);
}

TEST_CASE("instructions that stride now and then only are none, nor are those without a known end") {
    AccessStrides strides(kCaches);
    for (int i = 0; i < 100; ++i) {
        SampledAccess access;
        access.pid = 100;
        access.weight_ns = 1'000'000;
        access.instruction = 0x401000;
        access.address = 0x10000000 + static_cast<uint64_t>(i) * 16384;
        access.width = 8;
        if (i % 3 == 0)
            access.move = LoopMove{16384, 512, false};
        strides.take(access);
        access.instruction = 0x402000;
        access.move = LoopMove{16384, 0, false};
        strides.take(access);
    }
    CHECK(written(strides).empty());
    // Records of 16 KiB, of which each is looked at once.
    for (int i = 0; i < 200; ++i) {
        SampledAccess access;
        access.pid = 100;
        access.weight_ns = 1'000'000;
        access.instruction = 0x403000;
        access.address = 0x10000000 + static_cast<uint64_t>(i) * 1000 * 16384;
        access.width = 8;
        access.move = LoopMove{16384, 512 - static_cast<uint64_t>(i), false};
        strides.take(access);
    }
    CHECK(written(strides).empty());
    AccessStrides blind({});
    walk(blind, 0x401000, 0x10000000, 16384, 512, 200);
    CHECK(written(blind).empty());
}

TEST_CASE("walks are timed") {
    for (const bool stores : {false, true}) {
        Walk walk{.stride = 16384, .padded_stride = 16448, .accesses = 512, .advance = 8, .loads = true,
                  .stores = stores, .beyond_caches = stores};
        const WalkTime time = time_walk(walk);
        CHECK(time.seen_ps > 0);
        CHECK(time.padded_ps > 0);
    }
    CHECK(time_walk({.stride = 16384, .padded_stride = 16448, .accesses = 64}).padded_ps > 0); // always the same places
    // What cannot be timed as it is: unaligned, empty, too large.
    CHECK(time_walk({.stride = 1001, .padded_stride = 1064, .accesses = 512}).seen_ps == 0);
    CHECK(time_walk({.stride = 4096, .padded_stride = 4160, .accesses = 0}).seen_ps == 0);
    CHECK(time_walk({.stride = uint64_t{1} << 40, .padded_stride = (uint64_t{1} << 40) + 64, .accesses = 512}).seen_ps == 0);
}
