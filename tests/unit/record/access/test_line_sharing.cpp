// Cache lines that threads share: what is kept of samples, what is written, what is timed.
#include "fake_tree.h"
#include "record/access/sharing/line_sharing.h"
#include "record/calibrate/line_timing.h"
#include "trace/build_run.h"
#include "trace/file/records.h"

#include <catch2/catch.hpp>

#include <bit>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kPeriod_ns = 4'000'000;
constexpr uint64_t kLine = 0x10000040;
constexpr uint16_t kUpdate = trace::kAlignLoad | trace::kAlignStore;

struct Recorded {
    std::vector<trace::SharedLine> lines;
    std::vector<trace::LineUse> uses;
    std::vector<trace::LineTransfer> transfers;
};

// Samples of threads on their CPUs, one every `kPeriod_ns` a CPU.
struct Sampling {
    LineSharing sharing{64};
    uint64_t now_ns = 1'000'000'000;

    SampledAccess access(uint32_t thread, uint64_t address, uint16_t flags) {
        SampledAccess made;
        made.pid = 100;
        made.tid = 100 + thread;
        made.cpu = static_cast<int>(thread);
        made.time_ns = now_ns;
        made.weight_ns = kPeriod_ns;
        made.instruction = made.sampled = 0x401000 + thread * 16;
        made.address = address;
        made.width = 8;
        made.flags = flags;
        return made;
    }
    void take(const SampledAccess& access, trace::NodeId path = 7) {
        sharing.count(access.pid, access.tid, access.cpu, access.time_ns, access.weight_ns);
        sharing.take(access, path);
    }
    void take(uint32_t thread, uint64_t address, uint16_t flags) { take(access(thread, address, flags)); }
    void pass() { now_ns += kPeriod_ns / 2; } // two CPUs

    Recorded written() {
        const FakeTree folder;
        const std::string path = folder.root() + "/node.plumb";
        NodeTraceWriter file(path, 1 << 20, 1 << 20);
        Calibration calibration(platform::MachineCache("", "", "")); // times anew, with the least room
        sharing.write(file, calibration);
        file.close();
        Recorded recorded;
        trace::TraceReader reader(path);
        trace::for_each_record(reader, trace::Overloaded{
                                           [&](const trace::SharedLine& record) { recorded.lines.push_back(record); },
                                           [&](const trace::LineUse& record) { recorded.uses.push_back(record); },
                                           [&](const trace::LineTransfer& record) { recorded.transfers.push_back(record); },
                                       });
        return recorded;
    }
};

} // namespace

TEST_CASE("different bytes of one line, written in turn") {
    Sampling samples;
    for (uint32_t i = 0; i < 400; ++i, samples.pass())
        samples.take(i % 2, kLine + i % 2 * 8, kUpdate);
    const Recorded recorded = samples.written();
    REQUIRE(recorded.lines.size() == 1);
    const trace::SharedLine& line = recorded.lines[0];
    CHECK(line.pid == 100);
    CHECK(line.address == kLine);
    CHECK(line.line_bytes == 64);
    CHECK(line.samples == 399); // from the second thread on
    CHECK(line.pairs == 398);
    CHECK(line.close_handovers == 398);
    CHECK(line.same_handovers == 0);
    CHECK(line.other_handovers == 397); // the first is by a thread that had not run beside another one
    CHECK(std::popcount(line.other_slices) == 50); // of 16 ms over 0.8 s
    CHECK(line.slice_ns == 4 * kPeriod_ns);
    CHECK(line.same_slices == 0);
    CHECK(line.threads == 2);
    REQUIRE(recorded.uses.size() == 2);
    for (const trace::LineUse& use : recorded.uses) {
        const uint32_t thread = use.header.tid - 100;
        CHECK(use.line == kLine);
        CHECK(use.offset == thread * 8);
        CHECK(use.width == 8);
        CHECK(use.flags == kUpdate);
        CHECK(use.path == 7);
        CHECK(use.instruction == 0x401000 + thread * 16);
        CHECK(use.shared_ns <= use.time_ns);
        CHECK(use.shared_ns + kPeriod_ns >= use.time_ns);
        CHECK(use.other_handovers >= 198);
    }
    REQUIRE(recorded.transfers.size() == 1);
    CHECK(recorded.transfers[0].cpu == 0);
    CHECK(recorded.transfers[0].other_cpu == 1);
    CHECK(recorded.transfers[0].own_load_ps == 0); // nobody merely loads
}

TEST_CASE("the same bytes: at least one of both must write") {
    Sampling atomic, readers, one_writer;
    for (uint32_t i = 0; i < 100; ++i) {
        for (Sampling* samples : {&atomic, &readers, &one_writer})
            samples->pass();
        atomic.take(i % 2, kLine + 16, kUpdate | trace::kAlignLocked);
        readers.take(i % 2, kLine + 16, trace::kAlignLoad);
        one_writer.take(i % 2, kLine + 16, i % 2 ? trace::kAlignStore : trace::kAlignLoad);
    }
    const Recorded counted = atomic.written();
    REQUIRE(counted.lines.size() == 1);
    CHECK(counted.lines[0].same_handovers == 97);
    CHECK(counted.lines[0].other_handovers == 0);
    CHECK(readers.written().lines.empty());
    REQUIRE(one_writer.written().lines.size() == 1);
}

TEST_CASE("a reader beside what another thread writes shares falsely; so does the writer") {
    Sampling samples;
    for (uint32_t i = 0; i < 100; ++i, samples.pass())
        samples.take(i % 2, kLine + i % 2 * 32, i % 2 ? trace::kAlignStore : trace::kAlignLoad);
    const Recorded recorded = samples.written();
    REQUIRE(recorded.lines.size() == 1);
    CHECK(recorded.lines[0].other_handovers == 97);
    CHECK(recorded.lines[0].same_handovers == 0);
}

TEST_CASE("one thread after the other shares nothing, nor do threads on one CPU, nor one thread, nor two processes") {
    Sampling after, stacked, alone, processes;
    for (uint32_t i = 0; i < 400; ++i) {
        for (Sampling* samples : {&after, &stacked, &alone, &processes})
            samples->pass();
        after.take(i / 200, kLine, kUpdate);
        auto access = stacked.access(i % 2, kLine, kUpdate);
        access.cpu = 0;
        stacked.take(access);
        alone.take(0, kLine, kUpdate);
        access = processes.access(0, kLine, kUpdate);
        access.pid = access.tid = 100 + i % 2;
        access.cpu = static_cast<int>(i % 2);
        processes.take(access);
    }
    CHECK(after.written().lines.empty());
    CHECK(stacked.written().lines.empty());
    CHECK(alone.written().lines.empty());
    CHECK(processes.written().lines.empty());
}

TEST_CASE("time without others about, and time in loops that only wait, is told apart") {
    Sampling samples;
    for (uint32_t i = 0; i < 100; ++i, samples.pass())
        samples.take(i % 2, kLine + i % 2 * 8, kUpdate);
    for (uint32_t i = 0; i < 400; ++i, samples.pass()) // the second thread has gone
        samples.take(0, kLine, kUpdate);
    const Recorded recorded = samples.written();
    REQUIRE(recorded.uses.size() == 2);
    const trace::LineUse& first = recorded.uses[0];
    CHECK(first.header.tid == 100);
    CHECK(first.samples == 449);
    CHECK(first.shared_ns <= 90 * kPeriod_ns); // 49 and what came soon after
    CHECK(first.shared_ns >= 48 * kPeriod_ns);

    Sampling waiting;
    for (uint32_t i = 0; i < 100; ++i, waiting.pass()) {
        SampledAccess access = waiting.access(i % 2, kLine, i % 2 ? kUpdate : uint16_t{trace::kAlignLoad});
        access.polls = i % 2 == 0;
        waiting.take(access);
    }
    const Recorded polled = waiting.written();
    REQUIRE(polled.uses.size() == 2);
    for (const trace::LineUse& use : polled.uses)
        CHECK((use.header.tid == 100 ? use.polled_ns : use.shared_ns) >= 48 * kPeriod_ns);
    for (const trace::LineUse& use : polled.uses)
        CHECK((use.header.tid == 100 ? use.shared_ns : use.polled_ns) == 0);
}

TEST_CASE("of many lines each is seen seldom: other bytes count as long as the threads are in the same page") {
    Sampling parts, dealt_out;
    for (uint32_t i = 0; i < 2000; ++i) {
        parts.pass();
        dealt_out.pass();
        const uint64_t line = 0x20000000 + (i / 2 * 37 + i % 2 * 11) % 64 * 64;
        parts.take(i % 2, line + i % 2 * 8, kUpdate);
        dealt_out.take(i % 2, line, kUpdate); // the same bytes, long after one another
    }
    const Recorded recorded = parts.written();
    CHECK(recorded.lines.size() == 64);
    uint64_t others = 0, samples = 0;
    for (const trace::SharedLine& line : recorded.lines) {
        others += line.other_handovers;
        samples += line.samples;
        CHECK(line.same_handovers == 0);
    }
    CHECK(others * 4 > samples);
    CHECK(dealt_out.written().lines.empty());
}

TEST_CASE("a store that finds no room is what was waited for if its line is contended") {
    Sampling samples;
    for (uint32_t i = 0; i < 200; ++i, samples.pass()) {
        SampledAccess access = samples.access(i % 2, 0x30000000 + i * 64, trace::kAlignLoad);
        access.sampled = access.instruction + 4;
        access.store = StoreAhead{kLine + i % 2 * 8, 0, 8, trace::kAlignStore, 4, {}};
        samples.take(access);
    }
    const Recorded recorded = samples.written();
    REQUIRE(recorded.lines.size() == 1);
    CHECK(recorded.lines[0].address == kLine);
    REQUIRE(recorded.uses.size() == 2);
    CHECK(recorded.uses[0].samples >= 90);
    CHECK(recorded.uses[0].flags == trace::kAlignStore);
    CHECK(recorded.uses[0].instruction == (recorded.uses[0].header.tid - 100) * 16 + 0x401004);

    Sampling updates; // load and store of the same word by two instructions
    for (uint32_t i = 0; i < 100; ++i, updates.pass()) {
        SampledAccess access = updates.access(i % 2, kLine + i % 2 * 8, trace::kAlignLoad);
        access.store = StoreAhead{access.address, 0, 8, trace::kAlignStore, 4, {}};
        updates.take(access);
    }
    const Recorded updated = updates.written();
    REQUIRE(updated.uses.size() == 2);
    CHECK(updated.uses[0].flags == kUpdate);
}

TEST_CASE("however much memory is used, little is kept, and contended lines stay") {
    Sampling samples;
    for (uint32_t i = 0; i < 300'000; ++i) {
        samples.pass();
        if (i % 10 < 2)
            samples.take(i % 2, kLine + i % 2 * 8, kUpdate);
        else
            samples.take(i % 2, 0x40000000 + uint64_t{i} * 64, kUpdate);
    }
    const Recorded recorded = samples.written();
    REQUIRE(recorded.lines.size() == 1);
    CHECK(recorded.lines[0].address == kLine);
    CHECK(recorded.lines[0].samples > 50'000);
    CHECK(std::popcount(recorded.lines[0].other_slices) >= 32); // over all of the run, whose length was not known
    CHECK(recorded.lines[0].slice_ns > 1'000'000'000);
}

TEST_CASE("a process that ended is judged then, and so is a program that another one replaced") {
    for (const bool ends : {false, true}) {
        Sampling samples;
        for (uint32_t i = 0; i < 100; ++i, samples.pass())
            samples.take(i % 2, kLine + i % 2 * 8, kUpdate);
        if (ends) {
            samples.sharing.forget(100);
            samples.sharing.forget(100);
        }
        for (uint32_t i = 0; i < 100; ++i, samples.pass()) {
            SampledAccess access = samples.access(i % 2, kLine, kUpdate);
            access.generation = 1;
            samples.take(access);
        }
        const Recorded recorded = samples.written();
        REQUIRE(recorded.lines.size() == 2);
        CHECK(recorded.lines[0].other_handovers == 97);
        CHECK(recorded.lines[0].same_handovers == 0);
        CHECK(recorded.lines[1].same_handovers == 97);
    }
}

TEST_CASE("accesses are timed by their form") {
    LineAccesses forms;
    forms.add(kUpdate);
    forms.add(trace::kAlignLoad | trace::kAlignStore | trace::kAlignLocked);
    CHECK(forms.update);
    CHECK(forms.locked);
    CHECK_FALSE(forms.load);
    CHECK_FALSE(forms.store);
}

TEST_CASE("threads that take turns on busy CPUs share little") {
    Sampling samples;
    uint32_t running = 0;
    for (uint32_t i = 0; i < 600; ++i, samples.pass()) {
        running = i / 6 % 2; // each has its CPU for three samples, then the other one has its own
        if (i % 2 == 0)
            samples.take(running, kLine + running * 8, kUpdate);
    }
    const Recorded recorded = samples.written();
    uint64_t shared_ns = 0, time_ns = 0;
    for (const trace::LineUse& use : recorded.uses) {
        shared_ns += use.shared_ns;
        time_ns += use.time_ns;
    }
    CHECK(shared_ns * 2 <= time_ns);
}
