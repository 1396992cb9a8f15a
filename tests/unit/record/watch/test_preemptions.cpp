// Who had a thread's CPU while it could have gone on: from made-up records of switches to the trace file and back.
#include "record/watch/threads/preemptions.h"
#include "switch_records.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint32_t kOther = testing::kSwitchedPid + 1;

struct Cpus {
    void comes(uint64_t time_ns, uint32_t tid, int cpu) { take(time_ns, tid, cpu, false, false); }
    void loses(uint64_t time_ns, uint32_t tid, int cpu) { take(time_ns, tid, cpu, true, true); }
    void sleeps(uint64_t time_ns, uint32_t tid, int cpu) { take(time_ns, tid, cpu, true, false); }
    void take(uint64_t time_ns, uint32_t tid, int cpu, bool leaves, bool preempted) {
        PerfRecord record = testing::switch_record(PerfKind::switched, time_ns, tid, leaves, preempted);
        record.cpu = cpu;
        preemptions.take(record);
    }
    std::vector<model::Preemption> read(uint32_t tid = testing::kSwitchedPid) {
        for (const model::Process& process : run.processes)
            for (const model::Thread& thread : process.threads)
                if (thread.tid == tid)
                    return thread.preemptions;
        return {};
    }

    testing::SwitchTrace trace;
    Preemptions preemptions{trace.file};
    model::Run run;
};

} // namespace

TEST_CASE("a preemption is nobody's of the run unless one of its threads, or the recorder, had the CPU most of the time") {
    const uint32_t tid = testing::kSwitchedPid;
    Cpus cpus;
    cpus.comes(1 * kMillisecond, tid, 3);
    cpus.loses(10 * kMillisecond, tid, 3); // to a program outside
    cpus.comes(12 * kMillisecond, tid, 3);
    cpus.loses(20 * kMillisecond, tid, 3); // to another thread, for most of the time
    cpus.comes(20 * kMillisecond + 100, kOther, 3);
    cpus.sleeps(23 * kMillisecond, kOther, 3);
    cpus.comes(24 * kMillisecond, tid, 3);
    cpus.loses(30 * kMillisecond, tid, 3); // the other one has another CPU
    cpus.comes(30 * kMillisecond, kOther, 2);
    cpus.comes(34 * kMillisecond, tid, 1); // and it comes back on another
    cpus.sleeps(40 * kMillisecond, tid, 1); // no preemption
    cpus.comes(50 * kMillisecond, tid, 1);
    cpus.preemptions.recorder_ran(1, 60 * kMillisecond, 61 * kMillisecond);
    cpus.loses(60 * kMillisecond - 1000, tid, 1);
    cpus.comes(61 * kMillisecond + 1000, tid, 1);
    cpus.run = cpus.trace.close_and_read();
    const std::vector<model::Preemption> found = cpus.read();
    REQUIRE(found.size() == 4);
    CHECK(found[0].begin_ns == 10 * kMillisecond);
    CHECK(found[0].end_ns == 12 * kMillisecond);
    CHECK(found[0].cpu == 3);
    CHECK(found[0].taker == 0);
    CHECK_FALSE(found[0].by_recorder);
    CHECK(found[1].taker == kOther);
    CHECK(found[2].taker == 0);
    CHECK(found[2].cpu == 3);
    CHECK(found[3].by_recorder);
}

TEST_CASE("of a process with very many preemptions the long ones are kept, and their number is bounded") {
    Cpus cpus;
    const uint32_t tid = testing::kSwitchedPid;
    uint64_t now = kMillisecond;
    for (int i = 0; i < 20'000; ++i) {
        const bool is_long = i % 10 == 0;
        cpus.comes(now, tid, 0);
        cpus.loses(now + 1000, tid, 0);
        now += 1000 + (is_long ? 5 * kMillisecond : 2000);
    }
    cpus.run = cpus.trace.close_and_read();
    const std::vector<model::Preemption> found = cpus.read();
    CHECK(found.size() < 10'000);
    const auto kept = std::ranges::count_if(found, [](const auto& one) { return one.end_ns - one.begin_ns > kMillisecond; });
    CHECK(kept >= 1990);
}
