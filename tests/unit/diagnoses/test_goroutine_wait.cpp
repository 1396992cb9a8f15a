// Goroutines that wait while processors of Go are idle, on made-up runs.
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x401000, kAdd = 0x402000, kLockSlow = 0x403000, kGroupWait = 0x404000, kPark = 0x405000,
                   kSend = 0x406000, kTerms = 0x407000;

SyntheticRun go_program() {
    SyntheticRun made(10, 2);
    made.name(kMain, "main.main", "app", "/home/user/sums.go", 40);
    made.name(kAdd, "main.(*sums).add", "app", "/home/user/sums.go", 26);
    made.name(kTerms, "main.terms", "app", "/home/user/sums.go", 18);
    made.name(kLockSlow, "sync.(*Mutex).lockSlow", "app", "/usr/lib/go/src/sync/mutex.go", 171);
    made.name(kGroupWait, "sync.(*WaitGroup).Wait", "app", "/usr/lib/go/src/sync/waitgroup.go", 118);
    made.name(kSend, "runtime.chansend1", "app", "/usr/lib/go/src/runtime/chan.go", 145);
    made.name(kPark, "runtime.gopark", "app", "/usr/lib/go/src/runtime/proc.go", 463);
    made.add_thread(0, 1, 0);
    made.add_samples(0, made.add_path({kMain, kAdd, kTerms}), 10000);
    model::Goroutines& goroutines = made.run.processes.back().goroutines;
    goroutines.processors = 2;
    goroutines.looks = 400;
    goroutines.time_ns = goroutines.runnable_ns = SyntheticRun::ns(10);
    return made;
}

void hold_up(SyntheticRun& made, const std::vector<uint64_t>& path, const std::string& reason, uint64_t looks, double saved_s) {
    const uint32_t node = made.add_path(path, false);
    made.run.processes.back().goroutines.waits.push_back(
        {.path = node, .reason = reason, .looks = looks, .time_ns = SyntheticRun::ns(2 * saved_s), .saved_ns = SyntheticRun::ns(saved_s)});
}

} // namespace

TEST_CASE("goroutines that wait for a lock: the line of the program, and what the idle processor could do") {
    SyntheticRun made = go_program();
    hold_up(made, {kMain, kAdd, kLockSlow, kPark}, "sync.Mutex.Lock", 380, 4.8);
    made.finish();
    const auto findings = made.diagnose("goroutine-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.48));
    CHECK(findings[0].severity == Severity::high);
    REQUIRE(findings[0].where.size() == 1);
    CHECK(findings[0].where[0].line == 26);
    CHECK(findings[0].subject.name == "sync.Mutex.Lock");
}

TEST_CASE("until Go 1.20 the functions on the path say whether a lock is waited for") {
    SyntheticRun made = go_program();
    hold_up(made, {kMain, kGroupWait, kPark}, "semacquire", 380, 4.8);
    made.finish();
    CHECK(made.diagnose("goroutine-wait").empty());
    hold_up(made, {kMain, kAdd, kLockSlow, kPark}, "semacquire", 380, 2.4);
    const auto findings = made.diagnose("goroutine-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.24));
}

TEST_CASE("senders and waits for locks are two findings") {
    SyntheticRun made = go_program();
    hold_up(made, {kMain, kSend, kPark}, "chan send", 200, 2);
    hold_up(made, {kMain, kAdd, kLockSlow, kPark}, "sync.RWMutex.Lock", 200, 1);
    made.finish();
    const auto findings = made.diagnose("goroutine-wait");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].subject.kind == "lock");
    CHECK(findings[1].subject.kind == "channel");
    CHECK(findings[1].where[0].line == 40);
}

TEST_CASE("a lock that one look found held is no finding") {
    SyntheticRun made = go_program();
    hold_up(made, {kMain, kAdd, kLockSlow, kPark}, "sync.Mutex.Lock", 1, 0.0125);
    made.finish();
    CHECK(made.diagnose("goroutine-wait").empty());
}
