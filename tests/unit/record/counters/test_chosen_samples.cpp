// The samples that are recorded with their time: a bounded number, spread over all that were offered.
#include "record/counters/chosen_samples.h"

#include "fake_tree.h"
#include "trace/file/records.h"
#include "trace/file/trace_reader.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;

namespace {

struct Written {
    uint64_t count = 0, late = 0; // late: of the second half of the time
    bool is_paired = true;        // thread and time of one sample
};

Written written(const std::string& path, uint64_t offered) {
    Written result;
    trace::TraceReader reader(path);
    trace::for_each_record(reader, [&](const trace::CounterSample& sample) {
        ++result.count;
        result.late += sample.time_ns >= offered / 2;
        result.is_paired &= sample.header.tid == sample.time_ns % 7 + 1;
    });
    return result;
}

} // namespace

TEST_CASE("as many samples as there is room for, from all of the run") {
    FakeTree tree;
    const std::string path = tree.root() + "/node.plumb";
    const CounterEvent &cycles = *find_event("cycles"), &faults = *find_event("page faults");
    constexpr uint64_t kOffered = 100'000, kFew = 10;
    {
        NodeTraceWriter file(path, 16 << 20, 16 << 20);
        ChosenSamples chosen(file);
        for (uint64_t time_ns = 0; time_ns < kOffered; ++time_ns)
            chosen.offer(cycles, 42, static_cast<uint32_t>(time_ns % 7 + 1), time_ns);
        file.close();
    }
    const Written all = written(path, kOffered);
    CHECK(all.count == ChosenSamples::kMostOfEvent);
    CHECK(all.is_paired);
    // A half, with a standard error of 1.1 %.
    CHECK(static_cast<double>(all.late) / static_cast<double>(all.count) == Approx(0.5).margin(0.05));
    const std::string other = tree.root() + "/other.plumb";
    {
        NodeTraceWriter file(other, 16 << 20, 16 << 20);
        ChosenSamples chosen(file);
        for (uint64_t time_ns = 0; time_ns < kFew; ++time_ns)
            chosen.offer(faults, 42, static_cast<uint32_t>(time_ns % 7 + 1), time_ns);
        file.close();
    }
    CHECK(written(other, kFew).count == kFew);
}
