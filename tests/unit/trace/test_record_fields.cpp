// The format as documentation and as dumps. That the catalogue is trace_format.h is checked by the compiler.
#include "synthetic_trace.h"
#include "trace/file/record_text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace plumb::trace;
using Catch::Contains;

TEST_CASE("the documentation names every record and field") {
    const std::string text = describe_format();
    for (const auto& record : record_descriptions()) {
        CHECK_THAT(text, Contains(std::string(record.name) + " (type " + std::to_string(record.type) + ")"));
        for (const Field& field : record.fields)
            CHECK_THAT(text, Contains(std::string("  ") + field.name));
    }
    CHECK_THAT(text, Contains("\nLargeMapKind\n") && Contains("0x3  program_break: it grew: brk, sbrk\n"));
}

TEST_CASE("a record as text and as JSON") {
    StringTable strings;
    strings.add(4, "a \"name\"\n\xff");
    ThreadSchedule record{};
    record.header = {static_cast<uint16_t>(RecordType::ThreadSchedule), sizeof record, 77};
    record.pid = 12;
    record.name = 4;
    record.run_ns = 1ull << 60;
    record.flags = 3;
    const RecordLine line{280, record.header.type, describe_record(record.header.type),
                          std::as_bytes(std::span(&record, 1))};
    const std::string text = record_as_text(line, strings);
    CHECK_THAT(text, Catch::StartsWith("280 ThreadSchedule tid=77 pid=12 name=4 \"a \\\"name\\\"\\n"));
    CHECK_THAT(text, Contains(" run_ns=1152921504606846976 ") && Contains(" flags=0x3"));
    CHECK(text.find('\n') == std::string::npos);
    const auto json = nlohmann::json::parse(record_as_json("f", line, strings));
    CHECK(json["type"] == "ThreadSchedule");
    CHECK(json["offset"] == 280);
    CHECK(json["run_ns"] == 1152921504606846976);
    CHECK(json["name"] == 4);
    CHECK(json["name_text"].get<std::string>().starts_with("a \"name\"\n"));
}

TEST_CASE("signed fields, short records and unknown types") {
    StringTable strings;
    ProcessGone gone{};
    gone.header = {static_cast<uint16_t>(RecordType::ProcessGone), 16, 0};
    gone.status = -1;
    const auto bytes = std::as_bytes(std::span(&gone, 1));
    const RecordLine short_one{0, 33, describe_record(33), bytes.first(16)};
    CHECK(record_as_text(short_one, strings) == "0 ProcessGone tid=0 pid=0 status=-1");
    const RecordLine unknown{8, 999, nullptr, bytes.first(16)};
    CHECK(record_as_text(unknown, strings) == "8 Unknown999 tid=0 bytes=00000000ffffffff");
}
