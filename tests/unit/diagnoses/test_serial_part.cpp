// One thread that computes alone while a team waits, on made-up runs whose bound can be worked out by hand.
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kSmooth = 0x400200, kWork = 0x400300, kLeaf = 0x400400;
constexpr uint64_t kCondWait = 0x7f0000001000;

// A run of 10 s on 4 CPUs: the first thread smooths for 4 s, then two others work for 6 s each.
struct TeamRun : SyntheticRun {
    TeamRun() : SyntheticRun(10, 4) {
        add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
        name(kMain, "main", "app", "/src/app.c", 10);
        name(kSmooth, "smooth", "app", "/src/app.c", 20);
        name(kWork, "work", "app", "/src/app.c", 30);
        name(kLeaf, "root_of", "app", "/src/app.c", 40); // that all use
        name(kCondWait, "pthread_cond_wait+0x23", "libc.so.6");
        for (const double share : {0.4, 0.6, 0.6})
            add_thread(static_cast<int>(process().threads.size()), share, 0);
        process().threads[0].wall_running_ns = ns(4);
        process().threads[1].wall_running_ns = ns(6);
        add_samples(0, add_path({kMain, kSmooth, kLeaf}), 4000);
        process().samples[0].alone_ns = ns(4);
        for (const uint32_t thread : {1u, 2u})
            add_samples(thread, add_path({kWork, kLeaf}), 6000);
        blocked(0, add_path({kMain, kCondWait}), 6);
        for (const uint32_t thread : {1u, 2u})
            blocked(thread, add_path({kWork, kCondWait}), 4);
        active(0, 4, 6);
        finish();
    }
    model::Process& process() { return run.processes[0]; }
    void blocked(uint32_t thread, uint32_t path, double time_s) {
        process().blocked.push_back({.thread = thread, .path = path, .system_call = SYS_futex, .descriptor = "", .looks = 100,
                                     .time_ns = ns(time_s), .waits = 100});
    }
    void active(double none_s, double one_s, double two_s) {
        model::ThreadsActive& active = process().threads_active;
        active.first_ns = run.begin_ns;
        active.last_ns = run.end_ns;
        active.active_ns = {ns(none_s), ns(one_s), ns(two_s)};
    }
};

} // namespace

TEST_CASE("four serial seconds of ten, two threads at work in the others: at most two seconds, by Amdahl's law") {
    TeamRun made;
    const auto findings = made.diagnose("serial-part");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(2));
    CHECK(findings[0].gain.fraction == Approx(0.2));
    CHECK(findings[0].gain.likely.value() == Approx(0.2)); // all of it in one function
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].where.at(0).line == 20); // not of main(), which waits for the team, nor of what all use
    CHECK(std::get<double>(findings[0].evidence.at("parallel_cpus_in_use")) == Approx(2));
    CHECK(std::get<double>(findings[0].evidence.at("most_speedup_by_more_threads")) == Approx(2.5));
}

TEST_CASE("others that were woken and had no CPU, or waited for a disk, may not have waited for the serial thread") {
    TeamRun made;
    made.process().threads[1].run_delay_ns = SyntheticRun::ns(3);
    const auto findings = made.diagnose("serial-part");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.2));
    CHECK(findings[0].gain.likely.value() == Approx(0.05)); // 4 - 3 s, divided among two
    TeamRun disk;
    disk.process().blocked[1].system_call = SYS_fsync;
    const auto in_doubt = disk.diagnose("serial-part");
    REQUIRE(in_doubt.size() == 1);
    CHECK(in_doubt[0].gain.likely.value() == Approx(0));
}

TEST_CASE("on a busy machine the bound is that of the free one, and the CPUs that the team had are likely") {
    TeamRun made;
    for (const uint32_t thread : {1u, 2u})
        made.process().threads[thread].run_ns = SyntheticRun::ns(3.6); // of 6 s, preempted for the rest
    const auto findings = made.diagnose("serial-part");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.2));
    CHECK(findings[0].gain.likely.value() == Approx(0.4 * (1 - 1 / 1.2)));
    TeamRun one_cpu;
    for (model::Thread& thread : one_cpu.process().threads) {
        thread.allowed_cpus = {0};
        thread.run_ns /= thread.tid == one_cpu.process().pid ? 1 : 2;
    }
    CHECK(one_cpu.diagnose("serial-part").empty());
}

TEST_CASE("no function that takes half of the serial time: only the bound is said") {
    TeamRun made;
    made.process().samples[0].samples = 1600;
    made.process().samples[0].time_ns = made.process().samples[0].alone_ns = SyntheticRun::ns(1.6);
    for (const uint64_t place : {uint64_t{0x400500}, uint64_t{0x400600}}) {
        made.name(place, place == 0x400500 ? "read" : "sort", "app", "/src/app.c", 60);
        made.add_samples(0, made.add_path({kMain, place}), 1200);
        made.process().samples.back().alone_ns = SyntheticRun::ns(1.2);
    }
    const auto findings = made.diagnose("serial-part");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.2));
    CHECK(findings[0].gain.likely.value() == Approx(0));
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("a thread of the team that works longer than the others is unequal work, and no serial part") {
    TeamRun made;
    made.process().samples[0].path = made.process().samples[1].path; // main() has a part of the work, and more of it
    made.process().samples[0].time_ns = made.process().samples[0].alone_ns;
    CHECK(made.diagnose("serial-part").empty());
}

TEST_CASE("a stage that works beside the others is no phase") {
    TeamRun made; // of 8 s it is alone for 6.8, and the others work only while it does
    made.process().threads[0].run_ns = SyntheticRun::ns(8);
    made.process().samples[0].samples = 8000;
    made.process().samples[0].time_ns = SyntheticRun::ns(8);
    made.process().samples[0].alone_ns = SyntheticRun::ns(6.8);
    made.active(2, 6.8, 1.2);
    CHECK(made.diagnose("serial-part").empty());
}

TEST_CASE("what others wait for a lock meanwhile is left to the lock") {
    TeamRun made;
    made.process().lock_holders.push_back({.thread = 1, .path = 0, .object = 0x601000, .holder = 0,
                                           .holder_path = made.process().samples[0].path, .looks = 100,
                                           .time_ns = SyntheticRun::ns(3.5)});
    CHECK(made.diagnose("serial-part").empty());
}

TEST_CASE("no team at work, one thread only, or not known all along: no finding") {
    TeamRun idle;
    idle.active(6, 3.9, 0.1);
    CHECK(idle.diagnose("serial-part").empty());
    TeamRun of_a_runtime; // its helpers have no code of the user's
    of_a_runtime.process().samples[1].path = of_a_runtime.process().samples[2].path = of_a_runtime.add_path({kCondWait});
    CHECK(of_a_runtime.diagnose("serial-part").empty());
    TeamRun stopped;
    stopped.active(0, 2, 3);
    CHECK(stopped.diagnose("serial-part").empty());
    SyntheticRun alone(10, 4);
    alone.add_thread(0, 1, 0);
    alone.finish();
    CHECK(alone.diagnose("serial-part").empty());
}
