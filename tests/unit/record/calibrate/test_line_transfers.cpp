// What accesses to contended lines cost is timed once an hour, within the room that a run has for measurements.
#include "fake_tree.h"
#include "record/calibrate/known_line_transfers.h"
#include "record/run/node_trace_writer.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <vector>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kMinute_ns = 60'000'000'000;

// A machine on which calculations of 64 steps take as long as an access to a contended line.
struct Machine {
    FakeTree folder;
    std::vector<LineTask> timed;
    size_t room = 100;

    Machine() { chmod(folder.root().c_str(), 0700); }

    trace::LineTransfer ask(const LineAccesses& accesses, uint64_t now_ns) {
        timed.clear();
        platform::MachineCache cache(folder.root(), "here", "boot 1");
        const trace::LineTransfer record = known_line_transfers(cache, 0, 1, accesses, now_ns, [&](const LineTask& task) {
            if (timed.size() == room)
                return LineTimes{};
            timed.push_back(task);
            return LineTimes{1000, 10'000 + task.work, 64.0 / (64 + task.work)};
        });
        cache.save();
        return record;
    }
};

} // namespace

TEST_CASE("line transfers that are known are not timed again within the hour") {
    Machine machine;
    LineAccesses accesses;
    accesses.locked = true;
    accesses.share = 0.5;
    const trace::LineTransfer first = machine.ask(accesses, kMinute_ns);
    CHECK(first.own_locked_ps == 1000);
    CHECK(first.contended_locked_ps == 10'064);
    CHECK(first.own_load_ps == 0);
    CHECK(machine.timed.size() == 7); // 0, 2, 4, .. 64 steps
    CHECK(machine.ask(accesses, 50 * kMinute_ns).contended_locked_ps == 10'064);
    CHECK(machine.timed.empty());
    accesses.share = 0.9; // without pauses: known, too
    CHECK(machine.ask(accesses, 50 * kMinute_ns).contended_locked_ps == 10'000);
    CHECK(machine.timed.empty());
    accesses.words = 2;
    machine.ask(accesses, 50 * kMinute_ns);
    CHECK(machine.timed.size() == 1);
    CHECK(machine.timed[0].words == 2);
    accesses.words = 1;
    machine.ask(accesses, 62 * kMinute_ns);
    CHECK(machine.timed.size() == 1);
}

TEST_CASE("with little room each form is timed without pauses, and a later run goes on from there") {
    Machine machine;
    machine.room = 3;
    LineAccesses accesses;
    accesses.update = accesses.load = true;
    accesses.share = 0.5;
    const trace::LineTransfer first = machine.ask(accesses, kMinute_ns);
    CHECK(first.contended_update_ps == 10'002);
    CHECK(first.contended_load_ps == 10'000);
    CHECK(machine.timed.size() == 3);
    machine.room = 100;
    const trace::LineTransfer second = machine.ask(accesses, kMinute_ns);
    CHECK(second.contended_update_ps == 10'064);
    CHECK(second.contended_load_ps == 10'064);
    CHECK(machine.timed.size() == 11);
}

TEST_CASE("accesses are timed on CPUs that this process may use, within their room") {
    constexpr uint64_t kMost_ns = 20'000'000;
    const LineTimes nowhere = time_line_task(0, 100'000, {LineForm::update, 1, 0}, kMost_ns);
    CHECK(nowhere.own_ps == 0);
    CHECK(nowhere.contended_ps == 0);
    // Whether there are two CPUs free at the same time is the machine's affair; both figures or none.
    const uint64_t begin_ns = own_cpu_ns();
    const LineTimes here = time_line_task(0, 1, {LineForm::locked, 1, 0}, kMost_ns);
    CHECK((here.own_ps == 0) == (here.contended_ps == 0));
    CHECK(own_cpu_ns() - begin_ns < 2 * kMost_ns);
}
