// Threads that take turns at a lock of their language's runtime, on made-up runs whose gain can be worked out by hand.
#include "analyses/time/wait_class.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kPythonEval = 0x7f2000000100, kPythonState = 0x7f2000008000;
constexpr uint64_t kCondWait = 0x7f0000001000, kVmPark = 0x7f1000000100, kVmEnter = 0x7f1000000200, kVmSleep = 0x7f1000000300,
                   kVmUnsafePark = 0x7f1000000400;
constexpr uint64_t kJavaPark = 0x7f3000000100, kJavaAcquire = 0x7f3000000200, kJavaStub = 0x7f3000000300, kJavaAdd = 0x7f3000000400,
                   kJavaTerm = 0x7f3000000500, kJavaLatch = 0x7f3000000600;

SyntheticRun program(int cpus) {
    SyntheticRun made(10, cpus);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.add_module("/usr/lib/jvm/lib/server/libjvm.so", 0x7f1000000000, 0x7f1000010000);
    made.add_module("/usr/bin/python3.11", 0x7f2000000000, 0x7f2000010000);
    made.add_module("", 0x7f3000000000, 0x7f3000010000, model::Module::Kind::anonymous);
    made.name(kCondWait, "pthread_cond_timedwait+0x23", "libc.so.6");
    made.name(kPythonEval, "_PyEval_EvalFrameDefault+0x45ee", "python3.11");
    made.name(kVmPark, "os::PlatformEvent::park+0x117", "libjvm.so");
    made.name(kVmEnter, "ObjectMonitor::enter+0x250", "libjvm.so");
    made.name(kVmSleep, "JavaThread::sleep+0x9f", "libjvm.so");
    made.name(kVmUnsafePark, "Unsafe_Park+0x106", "libjvm.so");
    made.name(kJavaPark, "void jdk.internal.misc.Unsafe.park(boolean, long)", "[anonymous]");
    made.name(kJavaAcquire, "int java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(int)", "[anonymous]");
    made.name(kJavaLatch, "void java.util.concurrent.CountDownLatch.await()", "[anonymous]");
    made.name(kJavaStub, "StubRoutines (1)", "[anonymous]");
    made.name(kJavaAdd, "void app.Sums.addTerms(int)", "[anonymous]");
    made.name(kJavaTerm, "double app.Sums.termOf(int)", "[anonymous]");
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        model::DataName state;
        state.name = "_PyRuntime";
        return address >= kPythonState && address < kPythonState + 4096 ? std::optional(state) : std::nullopt;
    };
    made.add_thread(0, 0, 0); // waits for the others
    return made;
}

void block(SyntheticRun& made, uint32_t thread, uint32_t path, uint64_t object, double time_s, double wall_s = 0) {
    model::BlockedSite site;
    site.thread = thread;
    site.path = path;
    site.system_call = SYS_futex;
    site.object = object;
    site.looks = site.waits = 100;
    site.time_ns = SyntheticRun::ns(time_s);
    site.wall_ns = SyntheticRun::ns(wall_s);
    made.run.processes.back().blocked.push_back(site);
}

// `threads` of them run 10 s in turn, and wait at `path` otherwise; each at a futex of its own.
SyntheticRun in_turn(int cpus, uint32_t threads, const std::vector<uint64_t>& path, uint64_t object,
                     const std::vector<uint64_t>& working) {
    SyntheticRun made = program(cpus);
    const double share = 1.0 / threads;
    const uint32_t waits = made.add_path(path), works = made.add_path(working);
    for (uint32_t thread = 1; thread <= threads; ++thread) {
        made.add_thread(static_cast<int>(thread) % cpus, share, 0);
        made.run.processes.back().threads[thread].wall_running_ns = SyntheticRun::ns(10 * share);
        made.add_samples(thread, works, static_cast<uint64_t>(10'000 * share));
        block(made, thread, waits, object + 4 * thread, 10 * (1 - share));
        made.run.processes.back().waited_for.push_back({.thread = thread, .path = waits, .system_call = SYS_futex, .descriptor = {},
            .object = object + 4 * thread, .peer_process = 0, .peer_thread = thread % threads + 1, .looks = 100,
            .time_ns = SyntheticRun::ns(10 * (1 - share))});
    }
    made.finish();
    return made;
}

SyntheticRun python(int cpus, uint32_t threads) {
    return in_turn(cpus, threads, {kPythonEval, kCondWait}, kPythonState + 400, {kPythonEval});
}

} // namespace

TEST_CASE("Python threads that take turns at the interpreter's lock: what they would save side by side") {
    for (const uint32_t threads : {2u, 4u}) {
        SyntheticRun made = python(4, threads);
        const auto findings = made.diagnose("interpreter-lock");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].gain.fraction == Approx(1 - 1.0 / threads));
        CHECK(findings[0].gain.certain() == Approx(1 - 1.0 / threads)); // all the others wait all the time
        CHECK(findings[0].severity == Severity::high);
        CHECK(findings[0].title.find(std::to_string(threads) + " Python threads") == 0);
        CHECK(made.diagnose("lock-wait").empty());
        CHECK(made.diagnose("monitor-wait").empty());
    }
    SyntheticRun two_cpus = python(2, 4);
    const auto findings = two_cpus.diagnose("interpreter-lock");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.5)); // of 10 s, on two CPUs
}

TEST_CASE("on one CPU the interpreter's lock costs nothing") {
    SyntheticRun made = python(1, 3);
    for (const Finding& finding : made.diagnose("interpreter-lock"))
        CHECK(finding.severity == Severity::info);
}

TEST_CASE("one Python thread that computes, and others that want the lock for moments, are no finding") {
    SyntheticRun made = program(4);
    const uint32_t waits = made.add_path({kPythonEval, kCondWait}), works = made.add_path({kPythonEval});
    for (uint32_t thread = 1; thread <= 3; ++thread) {
        made.add_thread(static_cast<int>(thread), thread == 1 ? 0.95 : 0.001, 0);
        block(made, thread, waits, kPythonState + 400, 0.02);
        block(made, thread, works, 0x7f0000cafe00, thread == 1 ? 0.4 : 9.9);
    }
    made.run.processes.back().threads[1].wall_running_ns = SyntheticRun::ns(9.5);
    made.add_samples(1, works, 9500);
    made.finish();
    CHECK(made.diagnose("interpreter-lock").empty());
}

TEST_CASE("Java threads that queue for a monitor: without names of Java code no line, and what the holder does") {
    SyntheticRun made = in_turn(4, 2, {kVmEnter, kVmPark, kCondWait}, 0x7f4000000000, {0x7f3000000800});
    const auto findings = made.diagnose("monitor-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.5));
    CHECK(findings[0].title.find("while it computes") != std::string::npos);
    CHECK(findings[0].where.empty());
    CHECK(findings[0].advice.size() == 2); // how to see Java's names
    CHECK(made.diagnose("interpreter-lock").empty());
}

TEST_CASE("what Java threads do while they hold a monitor is not known where they compute and sleep") {
    SyntheticRun made = program(4);
    const uint32_t waits = made.add_path({kVmEnter, kVmPark, kCondWait}), sleeps = made.add_path({kVmSleep, kVmPark, kCondWait});
    for (uint32_t thread = 1; thread <= 2; ++thread) {
        made.add_thread(static_cast<int>(thread), 0.3, 0);
        made.run.processes.back().threads[thread].wall_running_ns = SyntheticRun::ns(3);
        block(made, thread, waits, 0x7f4000001000 + 64 * thread, 4);
        block(made, thread, sleeps, 0x7f4000002000 + 64 * thread, 3);
    }
    made.finish();
    const auto findings = made.diagnose("monitor-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("while it computes or is blocked itself") != std::string::npos);
    CHECK(findings[0].advice.at(0).what == "Do not hold the lock while waiting");
    CHECK(findings[0].advice.at(1).what == "Hold the lock for less");
}

TEST_CASE("threads that wait for CPUs already save less, and nothing for certain") {
    for (const double delay : {0.0, 0.25}) {
        SyntheticRun made = in_turn(2, 2, {kVmEnter, kVmPark, kCondWait}, 0x7f4000000000, {0x7f3000000800});
        made.add_thread(0, 0.2, delay); // collects garbage
        made.add_thread(1, 0.2, delay);
        made.finish();
        const auto findings = made.diagnose("monitor-wait");
        REQUIRE(findings.size() == 1);
        const double most = 1 - (10 + 4) / 2 / 10.0; // by the CPU time
        CHECK(findings[0].gain.fraction == Approx(delay > 0 ? (most + 0.05) / 2 : most));
        CHECK(findings[0].gain.certain() == Approx(delay > 0 ? 0.05 : most)); // (14 + 5) / 2 of 10 s
        CHECK(findings[0].severity == Severity::high);
    }
}

TEST_CASE("with names of Java code, locks of java.util.concurrent are known, and the lines of those who wait and run") {
    SyntheticRun made = in_turn(4, 2, {kJavaAdd, kJavaAcquire, kJavaStub, kJavaPark, kVmUnsafePark, kCondWait}, 0x7f4000000000,
                                {kJavaAdd, kJavaTerm});
    for (int stub : {0, 1}) { // the interpreter's frames between compiled ones do not hide the lock
        made.name(kJavaStub, stub ? "Interpreter" : "void java.util.concurrent.locks.LockSupport.park(java.lang.Object)",
                  "[anonymous]");
        const auto findings = made.diagnose("monitor-wait");
        REQUIRE(findings.size() == 1);
        REQUIRE(!findings[0].where.empty());
        CHECK(findings[0].where[0].function == "void app.Sums.addTerms(int)");
        CHECK(findings[0].evidence.contains("holder_runs_at"));
        CHECK(findings[0].advice.size() == 1);
    }
}

TEST_CASE("Java threads that park for work, or for a latch, wait for no lock") {
    for (const std::vector<uint64_t>& path : {std::vector<uint64_t>{kVmUnsafePark, kCondWait}, // what it is for is not visible
                                              std::vector<uint64_t>{kJavaAdd, kJavaLatch, kJavaAcquire, kJavaPark, kVmUnsafePark, kCondWait}})
        CHECK(in_turn(4, 2, path, 0x7f4000000000, {kJavaAdd}).diagnose("monitor-wait").empty());
}

TEST_CASE("who sleeps inside of a monitor: nobody runs, and the sleep is what the others wait for") {
    SyntheticRun made = program(2);
    const uint32_t waits = made.add_path({kVmEnter, kVmPark, kCondWait}), sleeps = made.add_path({kVmSleep, kVmPark, kCondWait});
    const uint32_t joins = made.add_path({kVmPark, kCondWait});
    block(made, 0, joins, 0x7f4000000000, 10, 10); // the chain ends there: nobody runs
    for (uint32_t thread = 1; thread <= 4; ++thread) {
        made.add_thread(static_cast<int>(thread) % 2, 0.001, 0);
        block(made, thread, waits, 0x7f4000001000 + 64 * thread, 7.5);
        block(made, thread, sleeps, 0x7f4000002000 + 64 * thread, 2.5);
    }
    made.finish();
    const auto findings = made.diagnose("monitor-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.75).epsilon(0.01)); // each has 2.5 s of sleep
    CHECK(findings[0].title.find("while it is blocked itself") != std::string::npos);
    CHECK(findings[0].advice.at(0).what == "Do not hold the lock while waiting");
}
