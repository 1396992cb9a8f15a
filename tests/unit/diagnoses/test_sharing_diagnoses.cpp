// False and true sharing of cache lines, on made-up runs.
#include "diagnoses/sharing/exchange_code.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;
using Catch::Contains;

namespace {

constexpr uint64_t kCount = 0x400200, kOther = 0x400300, kLock = 0x7f0000001000, kTable = 0x420000;

int64_t number(const Finding& finding, const char* key) { return std::get<int64_t>(finding.evidence.at(key)); }
std::vector<std::string> texts(const Finding& finding, const char* key) {
    return std::get<std::vector<std::string>>(finding.evidence.at(key));
}

// 4 s of two threads that update words of one line `apart` bytes from one another with `share` of their samples.
struct Program : SyntheticRun {
    explicit Program(double share, uint64_t apart = 16) : SyntheticRun(4, 2) {
        name(kCount, "count", "app", "/src/app.c", 20);
        name(kOther, "main", "app", "/src/app.c", 5);
        const auto hits = static_cast<uint64_t>(4000 * share);
        const uint32_t counting = add_path({kOther, kCount}), working = add_path({kOther});
        model::SharedLine line;
        line.address = kTable;
        line.bytes = 64;
        for (uint32_t thread = 0; thread < 2; ++thread) {
            add_thread(static_cast<int>(thread), 1, 0);
            add_samples(thread, counting, hits);
            add_samples(thread, working, 4000 - hits);
            model::LineUse use;
            use.thread = thread;
            use.path = counting;
            use.instruction = kCount;
            use.kind.width = 8;
            use.kind.load = use.kind.store = true;
            use.offset = static_cast<uint32_t>(thread * apart);
            use.samples = hits;
            use.time_ns = use.shared_ns = hits * 1'000'000;
            (apart == 0 ? use.same_handovers : use.other_handovers) = hits / 2;
            line.uses.push_back(use);
        }
        line.samples = 2 * hits;
        line.time_ns = line.samples * 1'000'000;
        line.pairs = line.close_pairs = 2 * hits - 1;
        line.handovers = line.close_handovers = hits;
        (apart == 0 ? line.same_handovers : line.other_handovers) = hits;
        (apart == 0 ? line.same_slices : line.other_slices) = UINT64_MAX >> 14;
        line.slice_ns = 80'000'000;
        line.threads = 2;
        run.processes[0].shared_lines.push_back(line);
        model::LineTransfer transfer;
        transfer.cpu = 0;
        transfer.other_cpu = 1;
        transfer.update = {2, 8};
        transfer.locked = {5, 50};
        run.hosts[0].line_transfer = transfer;
        resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
            if (address < kTable || address >= kTable + 256)
                return std::nullopt;
            model::DataName data;
            data.name = "counters";
            data.type = "struct counter[16]";
            data.member = "[" + std::to_string((address - kTable) / 16) + "].hits";
            data.expression = data.name + data.member;
            data.size = 256;
            data.offset = address - kTable;
            data.file = "/src/app.c";
            data.line = 3;
            return data;
        };
        finish();
    }
    model::SharedLine& line() { return run.processes[0].shared_lines[0]; }
};

} // namespace

TEST_CASE("false sharing: the object, its members, the lines, the threads, the cost and the padding") {
    Program made(0.5);
    CHECK(made.diagnose("true-sharing").empty());
    const std::vector<Finding> findings = made.diagnose("false-sharing");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK_THAT(finding.title, Contains("2 threads use different bytes of the same cache line of `counters`"));
    CHECK(finding.subject.kind == "variable");
    CHECK(finding.subject.name == "counters");
    CHECK(std::get<std::vector<std::string>>(finding.subject.details.at("members")) ==
          std::vector<std::string>{"[0].hits", "[1].hits"});
    CHECK(std::get<std::vector<std::string>>(finding.subject.details.at("threads")).size() == 2);
    REQUIRE_FALSE(finding.where.empty());
    CHECK(finding.where[0].line == 20);
    CHECK(finding.cost.fraction == Approx(0.375)); // half of both threads' time, of which three quarters
    CHECK(finding.cost.how == "estimated");
    CHECK(finding.gain.fraction == Approx(0.375));
    CHECK_THAT(finding.gain.how, Contains("8.0 ns each while both use the line, 2.0 ns on lines of their own"));
    CHECK(finding.severity == Severity::high);
    CHECK(finding.confidence > 0.95);
    CHECK(number(finding, "line_bytes") == 64);
    CHECK(number(finding, "spacing_bytes") == 16);
    CHECK(number(finding, "padding_bytes") == 48);
    CHECK(number(finding, "thread_count") == 2);
    CHECK(number(finding, "writing_thread_count") == 2);
    const std::vector<std::string> accesses = texts(finding, "accesses");
    REQUIRE(accesses.size() == 2);
    CHECK_THAT(accesses[0], Contains("counters[0].hits (bytes 0 to 7 of its line): updated at app.c:20 by 1 thread"));
    REQUIRE(finding.advice.size() == 2);
    CHECK_THAT(finding.advice[0].what, Contains("each element a cache line of its own: 64 bytes instead of 16"));
    CHECK_THAT(finding.advice[0].how, Contains("alignas(64)") && Contains("48 bytes"));
}

TEST_CASE("true sharing: other advice, another calibration") {
    Program made(0.5, 0);
    for (model::LineUse& use : made.line().uses)
        use.kind.locked = true;
    CHECK(made.diagnose("false-sharing").empty());
    const std::vector<Finding> findings = made.diagnose("true-sharing");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK_THAT(finding.title, Contains("2 threads write `counters` all the time"));
    CHECK(finding.cost.fraction == Approx(0.45));
    CHECK(finding.cost.how == "estimated");
    CHECK(std::get<bool>(finding.evidence.at("is_lock")) == false);
    CHECK(finding.evidence.count("padding_bytes") == 0);
    CHECK_THAT(finding.advice[0].what, Contains("Let each thread count in its own variable"));
    CHECK_THAT(texts(finding, "accesses")[0], Contains("updated with a lock prefix") && Contains("by 2 threads"));
}

TEST_CASE("a lock inside a library is the line's that takes it, and its cost a bound") {
    Program made(0.5, 0);
    made.add_module("/usr/lib/libc.so.6", 0x7f0000000000, 0x7f0000100000);
    made.name(kLock, "pthread_mutex_lock", "libc.so.6");
    const uint32_t path = made.add_path({kOther, kCount, kLock});
    for (model::LineUse& use : made.line().uses) {
        use.instruction = kLock;
        use.path = path;
        use.code = {0xf0, 0x0f, 0xb1, 0x17}; // lock cmpxchg %edx,(%rdi)
        use.kind.locked = true;
    }
    const std::vector<Finding> findings = made.diagnose("true-sharing");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    REQUIRE_FALSE(finding.where.empty());
    CHECK(finding.where[0].line == 20);
    CHECK(finding.cost.how == "bound");
    CHECK(std::get<bool>(finding.evidence.at("is_lock")));
    CHECK_THAT(texts(finding, "accesses")[0], Contains("in pthread_mutex_lock"));
    CHECK_THAT(finding.advice[0].what, Contains("lock less often"));
}

TEST_CASE("a loop that tries to take a lock lasts as long as it is held: nothing is certain to be saved by sharing less") {
    Program made(0.5, 0);
    for (model::LineUse& use : made.line().uses) {
        use.code = {0xf0, 0x0f, 0xb1, 0x17}; // lock cmpxchg %edx,(%rdi)
        use.kind.locked = true;
    }
    REQUIRE(made.diagnose("true-sharing").size() == 1);
    CHECK(made.diagnose("true-sharing")[0].severity == Severity::high);
    const uint64_t instruction = made.line().uses[0].instruction;
    made.run.processes[0].spin_loops.push_back({.begin = instruction, .end = instruction + 8, .instruction = instruction});
    const std::vector<Finding> findings = made.diagnose("true-sharing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].gain.certain() == Approx(0).margin(1e-9));
}

TEST_CASE("instructions that locks are made of") {
    using Code = std::vector<uint8_t>;
    for (const Code& code : {Code{0xf0, 0x0f, 0xb1, 0x17}, Code{0xf0, 0x48, 0x0f, 0xb1, 0x17}, Code{0x87, 0x07},
                             Code{0x48, 0x87, 0x07}, Code{0x86, 0x07}, Code{0xf0, 0x48, 0x0f, 0xba, 0x2f, 0x00},
                             Code{0xf0, 0x48, 0x0f, 0xc7, 0x0f}})
        CHECK(is_exchange(code));
    for (const Code& code : {Code{}, Code{0xf0}, Code{0xf0, 0x48}, Code{0xf0, 0x48, 0x83, 0x07, 0x01},
                             Code{0xf0, 0x48, 0x0f, 0xc1, 0x07}, Code{0x48, 0x89, 0x07}, Code{0x0f}, Code{0x0f, 0xb1},
                             Code{0x48, 0x0f, 0xba, 0x27, 0x00}, Code{0x0f, 0xb6, 0x07}})
        CHECK_FALSE(is_exchange(code));
}

TEST_CASE("without a timing the cost is a bound; where the line costs nothing there is no finding") {
    Program untimed(0.5);
    untimed.run.hosts[0].line_transfer.reset();
    const std::vector<Finding> findings = untimed.diagnose("false-sharing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.fraction == Approx(0.5));
    CHECK(findings[0].cost.how == "bound");
    CHECK_THAT(findings[0].gain.how, Contains("upper bound"));
    Program free(0.5);
    free.run.hosts[0].line_transfer->update = {2, 2.1};
    CHECK(free.diagnose("false-sharing").empty());
}

TEST_CASE("what does not recur, is not interleaved, or is seldom written is no sharing") {
    const auto is_said = [](auto change) {
        Program made(0.5);
        change(made.line());
        return !made.diagnose("false-sharing").empty() || !made.diagnose("true-sharing").empty();
    };
    CHECK(is_said([](model::SharedLine&) {}));
    CHECK_FALSE(is_said([](model::SharedLine& line) { line.other_slices = 7; })); // once, for a while
    CHECK_FALSE(is_said([](model::SharedLine& line) { line.other_handovers = 7; }));
    CHECK_FALSE(is_said([](model::SharedLine& line) { line.close_handovers = line.close_pairs / 10; })); // by phases
    CHECK_FALSE(is_said([](model::SharedLine& line) { // threads that wait for a flag
        for (model::LineUse& use : line.uses)
            use.kind.store = false;
    }));
    CHECK_FALSE(is_said([](model::SharedLine& line) {
        for (model::LineUse& use : line.uses)
            use.shared_ns = 0;
    }));
    CHECK_FALSE(is_said([](model::SharedLine& line) { line.uses.pop_back(); }));
    CHECK_FALSE(is_said([](model::SharedLine& line) { line.uses.clear(); }));
    Program little(0.01);
    CHECK(little.diagnose("false-sharing").empty());
}

TEST_CASE("variables that share a line are named together; memory without a name is known by the line of source") {
    Program made(0.5, 32);
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        model::DataName data;
        data.name = address < kTable + 32 ? "head" : "tail";
        data.type = "unsigned long";
        data.size = 8;
        data.offset = address % 32;
        return data;
    };
    made.line().uses[1].time_ns -= 1'000'000;
    made.line().uses[1].shared_ns -= 1'000'000;
    const std::vector<Finding> findings = made.diagnose("false-sharing");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "head");
    CHECK(std::get<std::vector<std::string>>(findings[0].subject.details.at("shares_lines_with")) ==
          std::vector<std::string>{"tail"});
    CHECK_THAT(findings[0].advice[0].what, Contains("64 bytes apart instead of 32"));

    made.resolver.data = nullptr;
    const std::vector<Finding> nameless = made.diagnose("false-sharing");
    REQUIRE(nameless.size() == 1);
    CHECK(nameless[0].subject.kind == "call-site");
    CHECK(nameless[0].subject.name == "/src/app.c:20");

    model::LargeBlock block;
    block.start = kTable - 4096;
    block.bytes = 1 << 20;
    block.path = made.add_path({kOther}, false);
    block.by_allocator = true;
    made.run.processes[0].memory.blocks.push_back(block);
    const std::vector<Finding> in_block = made.diagnose("false-sharing");
    REQUIRE(in_block.size() == 1);
    CHECK(in_block[0].subject.kind == "allocation");
    CHECK(in_block[0].subject.name == "/src/app.c:5");
}

TEST_CASE("several lines of one object are one finding, and count together") {
    Program made(0.5);
    model::SharedLine second = made.line();
    second.address += 64;
    for (model::SharedLine* line : {&made.line(), &second})
        for (model::LineUse& use : line->uses) {
            use.samples /= 2;
            use.time_ns /= 2;
            use.shared_ns /= 2;
        }
    made.line().other_handovers = second.other_handovers = 5; // each by itself is too little
    made.line().close_pairs = second.close_pairs = 10;
    made.line().close_handovers = second.close_handovers = 5;
    made.line().other_slices = 0x55;
    second.other_slices = 0xaa;
    made.run.processes[0].shared_lines.push_back(second);
    const std::vector<Finding> findings = made.diagnose("false-sharing");
    REQUIRE(findings.size() == 1);
    CHECK(number(findings[0], "line_count") == 2);
    CHECK(findings[0].cost.fraction == Approx(0.375));
    CHECK_THAT(findings[0].title, Contains("the same cache lines"));
}
