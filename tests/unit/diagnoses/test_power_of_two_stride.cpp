// Walks with strides that crowd into few sets, on made-up runs.
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;
using Catch::Contains;

namespace {

constexpr uint64_t kLoop = 0x400200, kOther = 0x400300, kTable = 0x420000;

int64_t number(const Finding& finding, const char* key) { return std::get<int64_t>(finding.evidence.at(key)); }

// 4 s of one thread, of which samples saw `share` in a walk that would take `padded_ns` instead of 4 ns an access.
SyntheticRun program(double share, double padded_ns) {
    SyntheticRun made(4, 2);
    made.add_thread(0, 1, 0);
    made.name(kLoop, "sum_columns", "app", "/src/app.c", 20);
    made.name(kOther, "main", "app", "/src/app.c", 5);
    const auto samples = static_cast<uint64_t>(4000 * share);
    made.add_samples(0, made.add_path({kLoop}), samples);
    made.add_samples(0, made.add_path({kOther}), 4000 - samples);
    model::StridedWalk walk;
    walk.address = kLoop;
    walk.kind.width = 8;
    walk.kind.load = true;
    walk.cache_level = 2;
    walk.ways = 8;
    walk.line_bytes = 64;
    walk.sets = 1024;
    walk.sets_used = 4;
    walk.samples = walk.moved_samples = samples;
    walk.time_ns = walk.moved_time_ns = samples * 1'000'000;
    walk.stride = 16384;
    walk.padded_stride = 16448;
    walk.length = 512;
    walk.advance = 8;
    walk.last_address = kTable + 64;
    walk.seen_ns = 4;
    walk.padded_ns = padded_ns;
    made.run.processes[0].strided_walks.push_back(walk);
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        if (address < kTable || address >= kTable + (8u << 20))
            return std::nullopt;
        model::DataName name;
        name.name = "table";
        name.type = "double[512][2048]";
        name.size = 8u << 20;
        name.offset = address - kTable;
        return name;
    };
    made.finish();
    return made;
}

} // namespace

TEST_CASE("the array, the line, the stride and the padding are named, and what it gains") {
    SyntheticRun made = program(0.5, 1);
    const std::vector<Finding> findings = made.diagnose("power-of-two-stride");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.subject.kind == "variable");
    CHECK(finding.subject.name == "table");
    REQUIRE_FALSE(finding.where.empty());
    CHECK(finding.where[0].line == 20);
    CHECK(finding.cost.fraction == Approx(0.375)); // half of the run, of which three quarters
    CHECK(finding.gain.fraction == Approx(0.375));
    CHECK(finding.cost.how == "estimated");
    CHECK(finding.severity == Severity::high);
    CHECK(number(finding, "stride_bytes") == 16384);
    CHECK(number(finding, "padding_bytes") == 64);
    CHECK(number(finding, "cache_sets_used_count") == 4);
    CHECK_THAT(finding.title, Contains("Array table is accessed in steps of 16,384 bytes") && Contains("4 of the 1,024 sets"));
    REQUIRE(finding.advice.size() == 2);
    CHECK_THAT(finding.advice[0].what, Contains("16,448 bytes"));
    CHECK_THAT(finding.advice[0].how, Contains("2,056 elements of 8 bytes instead of 2,048"));
}

TEST_CASE("of vector accesses the type tells the elements") {
    SyntheticRun made = program(0.5, 1);
    made.run.processes[0].strided_walks[0].kind.width = 16;
    made.run.processes[0].strided_walks[0].kind.packed = true;
    std::string type;
    const auto name = made.resolver.data;
    made.resolver.data = [&](uint64_t address) {
        auto named = name(address);
        if (named)
            named->type = type;
        return named;
    };
    const auto how = [&] { return made.diagnose("power-of-two-stride").at(0).advice.at(0).how; };
    for (const char* told : {"double[512][2048]", "real(kind=8)(2048,512)"}) {
        type = told;
        CHECK_THAT(how(), Contains("2,056 elements of 8 bytes instead of 2,048"));
    }
    for (const char* untold : {"", "double*", "double[][]", "real(kind=8)(:,:)", "double[7][1000]", "struct row[512]"}) {
        type = untold;
        CHECK_THAT(how(), !Contains("elements of"));
    }
}

TEST_CASE("an array of the heap is named by who allocated it, and where in it the walk is") {
    constexpr uint64_t kAllocate = 0x400400, kBlock = 0x7f0000000010, kBytes = 64 << 20;
    SyntheticRun made = program(0.5, 1);
    made.name(kAllocate, "make_field", "app", "/src/field.c", 33);
    const uint64_t begin = made.run.begin_ns;
    std::vector<model::LargeBlock>& blocks = made.run.processes[0].memory.blocks;
    blocks.push_back({.start = kBlock, .bytes = kBytes, .from_ns = begin, .until_ns = begin + 1'000'000'000,
                      .path = made.add_path({kOther}, false), .by_allocator = true}); // was given back
    blocks.push_back({.start = kBlock, .bytes = kBytes, .from_ns = begin + 1'000'000'000,
                      .path = made.add_path({kAllocate}, false), .by_allocator = true});
    model::StridedWalk& walk = made.run.processes[0].strided_walks[0];
    walk.lowest_address = kBlock + 4096;
    walk.highest_address = kBlock + kBytes - 8;
    walk.last_address = kBlock + 20480;
    walk.last_ns = begin + 3'000'000'000;
    const std::vector<Finding> findings = made.diagnose("power-of-two-stride");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.subject.kind == "allocation");
    CHECK(finding.subject.name == "/src/field.c:33");
    CHECK(std::get<int64_t>(finding.subject.details.at("bytes")) == static_cast<int64_t>(kBytes));
    CHECK(std::get<int64_t>(finding.subject.details.at("offset_bytes")) == 4096);
    CHECK_THAT(finding.title, Contains("The memory allocated at /src/field.c:33 is accessed in steps of 16,384 bytes"));
    CHECK(finding.where.at(0).line == 20);

    walk.last_address = kBlock + kBytes; // behind it
    CHECK(made.diagnose("power-of-two-stride").at(0).subject.kind == "call-site");
}

TEST_CASE("several instructions on one array are one finding, on two arrays two") {
    SyntheticRun made = program(0.5, 1);
    std::vector<model::StridedWalk>& walks = made.run.processes[0].strided_walks;
    walks.push_back(walks[0]);
    walks[0].moved_time_ns /= 2;
    walks[0].moved_samples /= 2;
    walks[1] = walks[0];
    CHECK(made.diagnose("power-of-two-stride").at(0).cost.fraction == Approx(0.375));
    walks[1].last_address = 0x300000; // memory without a name
    walks[1].address = kOther;
    const std::vector<Finding> findings = made.diagnose("power-of-two-stride");
    REQUIRE(findings.size() == 2);
    CHECK(findings[1].subject.kind == "call-site");
    CHECK(findings[1].subject.name == "/src/app.c:5");
}

TEST_CASE("no finding where longer rows gain nothing, were not timed, or matter little") {
    CHECK(program(0.5, 3.8).diagnose("power-of-two-stride").empty());
    CHECK(program(0.5, 0).diagnose("power-of-two-stride").empty());
    CHECK(program(0.01, 1).diagnose("power-of-two-stride").empty());
    SyntheticRun none = program(0.5, 1);
    none.run.processes[0].strided_walks.clear();
    CHECK(none.diagnose("power-of-two-stride").empty());
}
