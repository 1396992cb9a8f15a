// Damaged, cut off, older, newer and half-written trace files: read as far as they go, and said where they end.
#include "synthetic_trace.h"
#include "trace/file/records.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::trace;
using Catch::Contains;

namespace {

struct Count {
    size_t records = 0;
    std::vector<uint64_t> times;
};

Count count(TraceReader& file) {
    Count result;
    file.visit({.record = [&](const RawRecord&) { ++result.records; }, .chunk = {}});
    for_each_record(file, [&](const ThreadEnd& record) { result.times.push_back(record.time_ns); });
    return result;
}

ThreadEnd end_at(uint64_t time_ns) { return {.header = {}, .time_ns = time_ns, .cpu_time_ns = 5}; }

} // namespace

TEST_CASE("committed records of all chunks are visited in order") {
    SyntheticTrace trace(Writer::process);
    trace.add(end_at(1));
    trace.add(end_at(2));
    trace.begin_chunk(4096);
    trace.add(end_at(3));
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{1, 2, 3});
    CHECK(file.notes().empty());
    CHECK(file.used_bytes() == 256 + 24 + 48 + 24 + 24);
}

TEST_CASE("what is not committed is not taken") {
    SyntheticTrace trace(Writer::process);
    trace.begin_chunk(4096);
    trace.add(end_at(1));
    trace.add(end_at(2));
    trace.chunk().committed -= sizeof(ThreadEnd);
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{1});
    CHECK(file.notes().empty());
}

TEST_CASE("a chunk that its writer took and never began is stepped over") {
    SyntheticTrace trace(Writer::process);
    trace.begin_chunk(4096);
    trace.chunk().magic = 0;
    trace.chunk().size = 0;
    trace.begin_chunk(4096);
    trace.add(end_at(7));
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{7});
    CHECK(file.notes().empty());
}

TEST_CASE("zeros behind the last chunk are room that was never used") {
    SyntheticTrace trace(Writer::process);
    trace.add(end_at(1));
    trace.bytes().resize(trace.bytes().size() + 100'000);
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{1});
    CHECK(file.notes().empty());
}

TEST_CASE("a file cut off at any byte gives the records before and no others") {
    SyntheticTrace trace(Writer::process);
    for (uint64_t i = 1; i <= 5; ++i)
        trace.add(end_at(i));
    const std::vector<std::byte> whole = trace.bytes();
    for (size_t length = sizeof(FileHeader); length < whole.size(); ++length) {
        std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
        TraceReader file("cut", [&] { return open_memory(cut); });
        const size_t room = length < sizeof(FileHeader) + sizeof(ChunkHeader)
                                ? 0
                                : length - sizeof(FileHeader) - sizeof(ChunkHeader);
        CHECK(count(file).times.size() == room / sizeof(ThreadEnd));
        CHECK(file.notes().empty() == (length < sizeof(FileHeader) + sizeof(ChunkHeader)));
    }
}

TEST_CASE("records of older, newer and unknown kinds") {
    SyntheticTrace trace(Writer::process);
    trace.header().minor = kMinor + 9;
    struct Longer {
        ThreadEnd known;
        uint64_t added;
    } longer{end_at(1), 77};
    longer.known.header = {static_cast<uint16_t>(RecordType::ThreadEnd), sizeof longer, 3};
    trace.add_bytes(std::as_bytes(std::span(&longer, 1)));
    struct Shorter {
        RecordHeader header;
        uint64_t time_ns;
    } shorter{{static_cast<uint16_t>(RecordType::ThreadEnd), sizeof shorter, 3}, 2};
    trace.add_bytes(std::as_bytes(std::span(&shorter, 1)));
    const RecordHeader unknown{60'000, sizeof unknown, 0};
    trace.add_bytes(std::as_bytes(std::span(&unknown, 1)));
    trace.add(end_at(3));
    auto file = trace.open();
    std::vector<ThreadEnd> ends;
    CHECK(for_each_record(file, [&](const ThreadEnd& record) { ends.push_back(record); }) == 1);
    REQUIRE(ends.size() == 3);
    CHECK(ends[0].cpu_time_ns == 5);
    CHECK(ends[1].time_ns == 2);
    CHECK(ends[1].cpu_time_ns == 0);
    CHECK(ends[2].time_ns == 3);
}

TEST_CASE("damage inside a chunk costs the rest of that chunk only, and its offset is said") {
    SyntheticTrace trace(Writer::process);
    trace.begin_chunk(4096);
    trace.add(end_at(1));
    const uint64_t damaged = trace.add(end_at(2));
    trace.begin_chunk(4096);
    trace.add(end_at(3));
    auto* header = reinterpret_cast<RecordHeader*>(trace.bytes().data() + damaged);
    for (const uint16_t size : {0, 4, 9, 65535, 65528}) {
        header->size = size;
        auto file = trace.open();
        CHECK(count(file).times == std::vector<uint64_t>{1, 3});
        REQUIRE(file.notes().size() == 1);
        CHECK_THAT(file.notes()[0], Contains("offset " + std::to_string(damaged)));
    }
}

TEST_CASE("a damaged chunk header is skipped up to the next chunk") {
    SyntheticTrace trace(Writer::process);
    trace.begin_chunk(4096);
    trace.add(end_at(1));
    ChunkHeader& first = trace.chunk();
    const uint32_t change = GENERATE(0u, 1u);
    (change == 0 ? first.magic : first.size) = 12'345;
    trace.begin_chunk(4096);
    trace.add(end_at(2));
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{2});
    REQUIRE(file.notes().size() == 1);
    CHECK_THAT(file.notes()[0], Contains("offset 256"));
}

TEST_CASE("sizes beyond the file are cut to it") {
    SyntheticTrace trace(Writer::process);
    trace.add(end_at(1));
    trace.chunk().size = UINT32_MAX / 8 * 8;
    trace.chunk().committed = UINT64_MAX;
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{1});
    CHECK(file.notes().size() == 1);
}

TEST_CASE("texts are cut where their record ends") {
    SyntheticTrace trace(Writer::process);
    trace.text("hello");
    auto* record = reinterpret_cast<String*>(trace.bytes().data() + 256 + 24);
    record->length = UINT32_MAX;
    auto file = trace.open();
    std::string seen;
    for_each_record(file, [&](const String&, std::string_view text) { seen = text; });
    CHECK(seen == std::string("hello\0\0\0", 8));
}

TEST_CASE("headers that cannot be read are refused, with the offset or the version") {
    SyntheticTrace trace(Writer::process);
    trace.add(end_at(1));
    FileHeader& header = trace.header();
    SECTION("newer major") {
        header.major = kMajor + 1;
        CHECK_THROWS_AS(trace.open("old"), NewerFormat);
        CHECK_THROWS_WITH(trace.open("FILE"), Contains("FILE") && Contains(std::to_string(kMajor + 1) + "." + std::to_string(kMinor)) &&
                                                  Contains("reads only " + std::to_string(kMajor) + "."));
    }
    SECTION("magic") {
        header.magic[3] = 'x';
        CHECK_THROWS_WITH(trace.open(), Contains("not a trace file") && Contains("offset 0"));
    }
    SECTION("header size") {
        header.header_size = GENERATE(0u, 100u, 257u, 0xfffffff8u);
        CHECK_THROWS_WITH(trace.open(), Contains("header size") && Contains("offset 12"));
    }
    SECTION("writer") {
        header.writer = 9;
        CHECK_THROWS_WITH(trace.open(), Contains("offset 16"));
    }
    SECTION("cut off") {
        trace.bytes().resize(GENERATE(3, 11, 13, 200));
        CHECK_THROWS_WITH(trace.open(), Contains("offset"));
    }
    SECTION("never begun") {
        trace.bytes().assign(GENERATE(0, 8, 4096), std::byte{0});
        CHECK_THROWS_WITH(trace.open(), Contains("ended before it recorded anything"));
    }
}

TEST_CASE("a larger header of a later minor is stepped over") {
    SyntheticTrace trace(Writer::process);
    trace.bytes().resize(320);
    trace.header().header_size = 320;
    trace.begin_chunk();
    trace.add(end_at(4));
    auto file = trace.open();
    CHECK(count(file).times == std::vector<uint64_t>{4});
}

TEST_CASE("a sparse file of many gigabytes costs neither time nor memory") {
    SyntheticTrace trace(Writer::process);
    trace.add(end_at(1));
    char path[] = "/tmp/plumb-sparse-XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    REQUIRE(write(descriptor, trace.bytes().data(), trace.bytes().size()) ==
            static_cast<ssize_t>(trace.bytes().size()));
    const bool grown = ftruncate(descriptor, 1ll << 40) == 0;
    close(descriptor);
    if (grown) {
        TraceReader file{std::string(path)};
        CHECK(count(file).times == std::vector<uint64_t>{1});
    }
    unlink(path);
}

TEST_CASE("what is no regular file is not waited for") {
    const std::string path = "/tmp/plumb-pipe-" + std::to_string(getpid());
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(TraceReader(path), Contains("not a regular file"));
    unlink(path.c_str());
    CHECK_THROWS_WITH(TraceReader(std::string("/tmp")), Contains("not a regular file"));
    CHECK_THROWS_WITH(TraceReader(path), Contains("cannot open") && Contains(path));
}

TEST_CASE("hostile sizes everywhere end in notes, not in a loop") {
    SyntheticTrace trace(Writer::process);
    for (int i = 0; i < 1000; ++i) {
        trace.begin_chunk(8);
        trace.chunk().committed = UINT64_MAX; // with a record of size 0
    }
    auto file = trace.open();
    CHECK(count(file).records == 0);
    CHECK(file.notes().size() <= 9);
}

TEST_CASE("events that are passed over change nothing else, in whole and in damaged files") {
    SyntheticTrace trace(Writer::process);
    for (int chunk = 0; chunk < 3; ++chunk) {
        trace.begin_chunk(4096);
        for (uint64_t i = 0; i < 12; ++i) {
            if (i % 5 == 0)
                trace.add(end_at(i));
            trace.add(MpiCollective());
            if (i % 4 == 0)
                trace.add(MpiMessage());
        }
    }
    struct Seen {
        std::vector<uint64_t> others; // offsets of records that are no events
        size_t events = 0;
        std::vector<std::string> notes;
        uint64_t used_bytes = 0;
    };
    const auto see = [](TraceReader& file) {
        Seen seen;
        const auto record = [&](const RawRecord& raw) {
            const auto type = static_cast<RecordType>(raw.header.type);
            if (type == RecordType::MpiCollective || type == RecordType::MpiMessage)
                ++seen.events;
            else
                seen.others.push_back(raw.offset);
        };
        file.visit({.record = record, .chunk = {}});
        seen.notes = file.notes();
        seen.used_bytes = file.used_bytes();
        return seen;
    };
    const std::vector<std::byte> whole = trace.bytes();
    for (size_t place = sizeof(FileHeader); place < whole.size(); place += 3) {
        for (const bool cut : {false, true}) {
            std::vector<std::byte> bytes = whole;
            if (cut)
                bytes.resize(place);
            else
                bytes[place] ^= std::byte{0x51};
            TraceReader file("damaged", [&] { return open_memory(bytes); });
            const Seen all = see(file);
            file.pass_over_events(true);
            for (int visit = 0; visit < 3; ++visit) {
                const Seen seen = see(file);
                INFO((cut ? "cut at " : "damaged at ") << place << ", visit " << visit);
                CHECK(seen.events == (visit == 0 ? all.events : 0));
                CHECK(seen.others == all.others);
                CHECK(seen.notes == all.notes);
                CHECK(seen.used_bytes == all.used_bytes);
            }
            file.pass_over_events(false);
            CHECK(see(file).events == all.events);
        }
    }
}

TEST_CASE("holes of a file are not counted as stored") {
    char path[] = "/tmp/plumb-hole-XXXXXX";
    const int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    REQUIRE(pwrite(descriptor, "x", 1, 0) == 1);
    REQUIRE(ftruncate(descriptor, off_t{1} << 40) == 0);
    const auto source = open_file(path);
    CHECK(source->size() == uint64_t{1} << 40);
    CHECK(source->stored_bytes() < 1 << 20);
    close(descriptor);
    unlink(path);
}
