// Regions of the public API as the model tells them.
#include "synthetic_trace.h"
#include "trace/build_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::trace;

namespace {

constexpr uint32_t kPid = 42;

class RegionTrace {
  public:
    RegionTrace() : trace_(Writer::process, kPid) {
        ProcessStart start{};
        start.pid = kPid;
        start.time_ns = 1'000;
        start.executable = trace_.text("/bin/app");
        start.rank = start.rank_count = start.local_rank = -1;
        trace_.add(start);
    }
    StringId name(const char* text) { return trace_.text(text); }
    void mark(uint32_t thread, StringId name, bool begins, uint64_t time_ns) {
        Region record{};
        record.time_ns = time_ns;
        record.name = name;
        record.begin = begins;
        trace_.add(record, thread);
    }
    void sample(const char* event, uint32_t thread, uint64_t time_ns) {
        CounterSample record{};
        record.event = trace_.text(event);
        record.pid = kPid;
        record.time_ns = time_ns;
        trace_.add(record, thread);
    }
    model::Process process() {
        std::vector<TraceReader> files;
        files.push_back(trace_.open());
        return build_run(files, nullptr).processes.at(0);
    }
    std::vector<model::Region> regions() { return process().regions; }

  private:
    SyntheticTrace trace_;
};

} // namespace

TEST_CASE("entries of a region add up over threads; nested and overlapping ones keep apart") {
    RegionTrace trace;
    const StringId solve = trace.name("solve"), exchange = trace.name("exchange");
    trace.mark(42, solve, true, 2'000);
    trace.mark(42, exchange, true, 3'000);
    trace.mark(42, solve, false, 6'000); // left before the one inside it
    trace.mark(42, exchange, false, 7'000);
    trace.mark(43, solve, true, 4'000);
    trace.mark(43, solve, true, 5'000); // once more inside itself
    trace.mark(43, solve, false, 5'500);
    trace.mark(43, solve, false, 9'000);
    const std::vector<model::Region> regions = trace.regions();
    REQUIRE(regions.size() == 2);
    CHECK(regions[0].name == "solve");
    CHECK(regions[0].entries == 3);
    CHECK(regions[0].threads == 2);
    CHECK(regions[0].time_ns == 4'000 + 500 + 5'000);
    CHECK(regions[0].longest_ns == 5'000);
    CHECK(regions[0].open == 0);
    CHECK(regions[1].name == "exchange");
    CHECK(regions[1].time_ns == 4'000);
    CHECK(regions[1].threads == 1);
}

TEST_CASE("a region that is never left ends with its thread, one that never began is none") {
    RegionTrace trace;
    const StringId left = trace.name("left out"), open = trace.name("open");
    trace.mark(42, left, false, 2'000);
    trace.mark(42, open, true, 3'000);
    trace.mark(42, open, false, 4'000);
    trace.mark(42, open, true, 5'000);
    trace.mark(42, open, false, 5'000);
    trace.mark(42, open, true, 8'000); // last sign of life
    const std::vector<model::Region> regions = trace.regions();
    REQUIRE(regions.size() == 1);
    CHECK(regions[0].name == "open");
    CHECK(regions[0].entries == 3);
    CHECK(regions[0].open == 1);
    CHECK(regions[0].time_ns == 1'000);
}

TEST_CASE("a file full of begins without ends is read in time proportional to its size") {
    RegionTrace trace;
    const StringId never = trace.name("never left"), outer = trace.name("outer");
    trace.mark(1, outer, true, 2'000);
    for (uint64_t i = 0; i < 200'000; ++i)
        trace.mark(1, never, true, 3'000 + i);
    for (uint64_t i = 0; i < 200'000; ++i)
        trace.mark(1, outer, false, 300'000 + i); // none is among the latest: searched for from end to begin, this takes minutes
    const std::vector<model::Region> regions = trace.regions();
    REQUIRE(regions.size() == 2);
    CHECK(regions[1].open == 200'000);
}

TEST_CASE("samples of counted events count for each region that their thread was in") {
    RegionTrace trace;
    const StringId solve = trace.name("solve"), step = trace.name("step"), own = trace.name("own");
    trace.mark(kPid, solve, true, 2'000);
    trace.mark(kPid, step, true, 3'000);
    trace.mark(kPid, step, true, 4'000); // once more inside itself
    trace.mark(kPid, step, false, 5'000);
    trace.mark(kPid, step, false, 6'000);
    trace.mark(kPid, solve, false, 7'000);
    trace.mark(43, own, true, 4'000);
    trace.mark(43, own, false, 9'000);
    for (const uint64_t time_ns : {1'500, 2'500, 4'500, 6'500, 8'000})
        trace.sample("cycles", kPid, time_ns);
    trace.sample("cycles", 43, 4'500);         // in a region of its own: not in those of the first thread
    trace.sample("cycles", 43, 3'500);         // before it
    trace.sample("cycles", 44, 5'500);         // works for the first thread
    trace.sample("page faults", 44, 2'000);    // the very beginning
    const model::Process process = trace.process();
    const auto count = [](const std::vector<model::CounterSamples>& samples, const std::string& event) -> uint64_t {
        for (const model::CounterSamples& each : samples)
            if (each.event == event)
                return each.count;
        return 0;
    };
    CHECK(count(process.counter_samples, "cycles") == 8);
    CHECK(count(process.counter_samples, "page faults") == 1);
    REQUIRE(process.regions.size() == 3);
    CHECK(process.regions[0].name == "solve");
    CHECK(count(process.regions[0].counter_samples, "cycles") == 4);
    CHECK(count(process.regions[0].counter_samples, "page faults") == 1);
    CHECK(count(process.regions[1].counter_samples, "cycles") == 2);
    CHECK(process.regions[1].counter_samples.size() == 1);
    CHECK(count(process.regions[2].counter_samples, "cycles") == 1);
}
