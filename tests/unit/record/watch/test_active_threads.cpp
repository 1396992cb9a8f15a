// How many threads of a process are active at the same time: from made-up records to the trace file and back into the model.
#include "record/watch/threads/active_threads.h"
#include "switch_records.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint32_t kPid = testing::kSwitchedPid, kHelper = kPid + 1;

struct Parts {
    void take(PerfKind kind, uint64_t time_ns, uint32_t tid, bool leaves = false, bool preempted = false) {
        active.take(testing::switch_record(kind, time_ns, tid, leaves, preempted));
    }
    model::Run run() {
        active.write();
        return trace.close_and_read();
    }

    testing::SwitchTrace trace;
    ActiveThreads active{trace.file};
};

} // namespace

TEST_CASE("a preempted thread is active, a blocked one is not") {
    Parts parts;
    parts.take(PerfKind::exec, 100, kPid);
    CHECK(parts.active.is_alone(kPid, kPid));
    parts.take(PerfKind::fork, 300, kHelper); // alone for 200
    CHECK(!parts.active.is_alone(kPid, kPid));
    parts.take(PerfKind::switched, 400, kHelper, true); // two for 100
    CHECK(parts.active.is_alone(kPid, kPid));
    CHECK(!parts.active.is_alone(kPid, kHelper));
    parts.take(PerfKind::switched, 450, kPid, true, true); // preempted: alone goes on
    CHECK(parts.active.is_alone(kPid, kPid));
    parts.take(PerfKind::switched, 500, kPid);
    parts.take(PerfKind::switched, 600, kHelper);       // alone for 200
    parts.take(PerfKind::switched, 900, kPid, true);    // two for 300
    CHECK(parts.active.is_alone(kPid, kHelper));
    parts.take(PerfKind::exit, 950, kHelper);           // alone for 50
    parts.take(PerfKind::switched, 1000, kPid);         // none for 50
    parts.take(PerfKind::exit, 1010, kPid);             // alone for 10
    const model::Run run = parts.run();
    REQUIRE(run.processes.size() == 1);
    const model::ThreadsActive& active = run.processes[0].threads_active;
    CHECK(active.active_ns[0] == 50);
    CHECK(active.active_ns[1] == 460);
    CHECK(active.active_ns[2] == 400);
    CHECK(active.last_ns - active.first_ns == 910);
}

TEST_CASE("an exec ends the threads of the program before; a record that was lost changes no count for good") {
    Parts parts;
    parts.take(PerfKind::exec, 100, kPid);
    parts.take(PerfKind::fork, 200, kHelper);
    parts.take(PerfKind::exec, 300, kPid);
    CHECK(parts.active.is_alone(kPid, kPid));
    parts.take(PerfKind::switched, 400, kPid); // it left before, of which nobody heard
    parts.take(PerfKind::switched, 500, kPid);
    CHECK(parts.active.is_alone(kPid, kPid));
    parts.take(PerfKind::switched, 600, kPid, true);
    parts.take(PerfKind::switched, 700, kPid, true);
    parts.take(PerfKind::switched, 800, kPid);
    CHECK(parts.active.is_alone(kPid, kPid));
    parts.active.stop();
    CHECK(!parts.active.is_alone(kPid, kPid));
}
