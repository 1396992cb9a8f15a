// Off-CPU times from records of switches: from made-up records to the trace file and back into the model, and what the time
// account makes of them.
#include "analyses/time/thread_times.h"
#include "record/watch/threads/thread_switch_counts.h"
#include "switch_records.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint32_t kPid = testing::kSwitchedPid;
constexpr uint64_t kMicrosecond = 1000, kMillisecond = 1'000'000;

struct Parts {
    explicit Parts(double share = 0.01) : counts(trace.file, share) {}
    void take(PerfKind kind, uint64_t time_ns, bool leaves = false, bool preempted = false, uint32_t tid = kPid) {
        counts.take(testing::switch_record(kind, time_ns, tid, leaves, preempted));
    }
    model::Run run() {
        counts.write_evidence();
        return trace.close_and_read();
    }

    testing::SwitchTrace trace;
    ThreadSwitchCounts counts;
};

std::string state_of(const model::Run& run) {
    for (const model::Evidence& evidence : run.evidence)
        if (evidence.source == "thread-switches")
            return evidence.why;
    return "nothing";
}

} // namespace

TEST_CASE("blocked and preempted intervals add up, by their length") {
    Parts parts;
    parts.take(PerfKind::exec, 100 * kMicrosecond);
    parts.take(PerfKind::switched, 200 * kMicrosecond, true);         // on for 100 us
    parts.take(PerfKind::switched, 205 * kMicrosecond);               // blocked for 5 us
    parts.take(PerfKind::switched, 300 * kMicrosecond, true, true);   // on for 95 us
    parts.take(PerfKind::switched, 2300 * kMicrosecond);              // preempted for 2 ms
    parts.take(PerfKind::switched, 2400 * kMicrosecond, true);
    parts.take(PerfKind::switched, 102'400 * kMicrosecond);           // blocked for 100 ms
    parts.take(PerfKind::exit, 102'500 * kMicrosecond);
    const model::Run run = parts.run();
    REQUIRE(run.processes.size() == 1);
    REQUIRE(run.processes[0].threads.size() == 1);
    const model::ThreadSwitches& switches = run.processes[0].threads[0].switches;
    CHECK(switches.known());
    CHECK(switches.on_ns == 395 * kMicrosecond);
    CHECK(switches.blocked_count == 2);
    CHECK(switches.blocked_ns == 100'005 * kMicrosecond);
    CHECK(switches.preempted_count == 1);
    CHECK(switches.preempted_ns == 2 * kMillisecond);
    CHECK(switches.blocked_counts == std::array<uint64_t, 8>{1, 0, 0, 0, 0, 1, 0, 0});
    CHECK(switches.blocked_times_ns[0] == 5 * kMicrosecond);
    CHECK(switches.preempted_counts == std::array<uint64_t, 8>{0, 0, 0, 1, 0, 0, 0, 0});
    CHECK(switches.on_ns + switches.blocked_ns + switches.preempted_ns == switches.last_ns - switches.first_ns);
    CHECK(state_of(run) == "");
}

TEST_CASE("a thread that has not been on a CPU yet waits for one") {
    Parts parts;
    parts.take(PerfKind::exec, 10);
    parts.take(PerfKind::fork, 1000, false, false, kPid + 1);
    parts.take(PerfKind::switched, 4000, false, false, kPid + 1);
    parts.take(PerfKind::exit, 5000, false, false, kPid + 1);
    const model::Run run = parts.run();
    REQUIRE(run.processes[0].threads.size() == 1); // the first one was not switched
    CHECK(run.processes[0].threads[0].switches.preempted_ns == 3000);
    CHECK(run.processes[0].threads[0].switches.on_ns == 1000);
}

TEST_CASE("where a record is missing nothing is guessed") {
    Parts parts;
    parts.take(PerfKind::exec, kMillisecond);
    parts.take(PerfKind::switched, 2 * kMillisecond, true);
    parts.take(PerfKind::switched, 5 * kMillisecond, true); // it must have been on a CPU in between
    parts.take(PerfKind::switched, 6 * kMillisecond);
    parts.take(PerfKind::switched, 9 * kMillisecond); // and off it here
    parts.take(PerfKind::exit, 10 * kMillisecond);
    const model::Run run = parts.run();
    const model::ThreadSwitches& switches = run.processes[0].threads[0].switches;
    CHECK(switches.broken_count == 2);
    CHECK(switches.broken_ns == 6 * kMillisecond);
    CHECK(switches.on_ns == 2 * kMillisecond);
    CHECK(switches.blocked_ns == kMillisecond);
    CHECK_FALSE(switches.known());
}

TEST_CASE("too many switches for the budget, or a lost one, end it for the rest of the run") {
    for (const bool lost : {false, true}) {
        Parts parts;
        parts.take(PerfKind::exec, 1);
        const int switches = lost ? 10 : 100'000; // 65 ms of a second
        for (int i = 0; i < switches; ++i)
            parts.take(PerfKind::switched, 1000 + static_cast<uint64_t>(i) * 1000, i % 2 == 0);
        parts.counts.look(0, 1'000'000'000, 0);
        CHECK(parts.counts.is_stopped() == !lost);
        if (lost)
            parts.counts.look(0, 1'000'000'000, 3);
        REQUIRE(parts.counts.is_stopped());
        parts.counts.stop();
        const uint64_t records = parts.counts.records();
        parts.take(PerfKind::switched, 1'000'000'000, true);
        CHECK(parts.counts.records() == records);
        const model::Run run = parts.run();
        CHECK(run.processes[0].threads[0].switches.stopped);
        CHECK(state_of(run).find(lost ? "no room" : "budget") != std::string::npos);
    }
}

TEST_CASE("the better one of the kernel's two accounts counts for a thread") {
    model::Thread thread;
    thread.start_ns = 1'000'000'000;
    thread.end_ns = 2'000'000'000;
    thread.run_ns = 100'000'000; // as read at a tick; then it ran on
    thread.run_delay_ns = 50'000'000;
    ThreadTimes times = thread_times(thread);
    CHECK(times.blocked_s == Approx(0.85));
    thread.switches = {.stopped = false, .first_ns = 1'000'000'000, .last_ns = 2'000'000'000, .on_ns = 400'000'000,
                       .blocked_count = 5, .blocked_ns = 500'000'000, .preempted_count = 2, .preempted_ns = 100'000'000};
    times = thread_times(thread);
    CHECK(times.run_s == Approx(0.4));
    CHECK(times.no_cpu_s == Approx(0.1));
    CHECK(times.blocked_s == Approx(0.5));
    CHECK(times.life_s() == Approx(1));
    thread.switches.stopped = true;
    CHECK(thread_times(thread).run_s == Approx(0.1));
    thread.switches.stopped = false;
    thread.run_delay_ns = 300'000'000; // it waited for a CPU after waking up: no longer blocked
    CHECK(thread_times(thread).no_cpu_s == Approx(0.3));
    CHECK(thread_times(thread).blocked_s == Approx(0.3));
}

TEST_CASE("time that is made of short waits is made of many") {
    model::Thread thread;
    thread.switches.first_ns = 1;
    thread.switches.last_ns = 10'000'000'000;
    thread.switches.blocked_counts = {0, 1000, 0, 10, 0, 0, 0, 0};
    thread.switches.blocked_times_ns = {0, 50 * kMillisecond, 0, 20 * kMillisecond, 0, 0, 0, 0};
    CHECK(least_waits(thread, 0.0051) == 2); // they may have been the longest ones
    CHECK(least_waits(thread, 0.0101) == 5);
    CHECK(least_waits(thread, 0.0451) >= 510);
    CHECK(least_waits(thread, 9) == 1010);
    thread.switches.broken_ns = 5'000'000'000;
    CHECK(least_waits(thread, 9) == 0);
}

TEST_CASE("where a thread stood at a moment is known once the records behind it are taken") {
    Parts parts;
    CHECK_FALSE(parts.counts.at_mark(kPid)); // nothing was asked
    parts.take(PerfKind::exec, 100 * kMicrosecond);
    parts.take(PerfKind::switched, 200 * kMicrosecond, true);
    parts.take(PerfKind::switched, 300 * kMicrosecond);
    parts.take(PerfKind::switched, 400 * kMicrosecond, true);
    parts.counts.mark(500 * kMicrosecond);
    const auto so_far = parts.counts.at_mark(kPid);
    REQUIRE(so_far);
    CHECK((!so_far->on && !so_far->preempted && so_far->since_ns == 400 * kMicrosecond && so_far->until_ns == 0));
    CHECK(so_far->unblocked_ns == 300 * kMicrosecond);
    parts.take(PerfKind::switched, 450 * kMicrosecond); // before the mark, but taken late
    parts.take(PerfKind::switched, 700 * kMicrosecond, true, true);
    parts.take(PerfKind::switched, 800 * kMicrosecond);
    const auto at_last = parts.counts.at_mark(kPid);
    REQUIRE(at_last);
    CHECK((at_last->on && at_last->since_ns == 450 * kMicrosecond && at_last->until_ns == 700 * kMicrosecond));
    parts.counts.mark(750 * kMicrosecond); // in the past of what was taken already
    CHECK_FALSE(parts.counts.at_mark(kPid));
    CHECK_FALSE(parts.counts.at_mark(kPid + 1));
}
