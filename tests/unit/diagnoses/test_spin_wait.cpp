// Threads that spin, on made-up runs whose gain can be worked out by hand.
#include "analyses/time/time_account.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kWork = 0x400200, kSpin = 0x400304, kRun = 0x400500, kFlag = 0x480000;

// `spin_samples` of a millisecond each, and `work_samples`.
void add_worker(SyntheticRun& made, double run_share, double delay_share, uint64_t work_samples, uint64_t spin_samples) {
    const auto thread = static_cast<uint32_t>(made.run.processes.back().threads.size());
    made.add_thread(static_cast<int>(thread) % made.run.hosts[0].cpu_count, run_share, delay_share);
    if (work_samples > 0)
        made.add_samples(thread, made.add_path({kRun, kWork}), work_samples);
    if (spin_samples > 0)
        made.add_samples(thread, made.add_path({kRun, kSpin}), spin_samples);
}

SyntheticRun program(int cpus) {
    SyntheticRun made(10, cpus);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kWork, "work", "app", "/src/app.c", 20);
    made.name(kSpin, "wait_turn", "app", "/src/app.c", 30);
    made.name(kRun, "run", "app", "/src/app.c", 40);
    made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
        model::DataName turn;
        turn.name = "turn";
        return address == kFlag ? std::optional(turn) : std::nullopt;
    };
    made.add_thread(0, 0, 0);
    made.run.processes.back().spin_loops.push_back({.begin = 0x400300, .end = 0x400310, .instruction = 0x400300, .width = 4,
        .pauses = true, .address = kFlag, .samples = 100, .time_ns = 100'000'000});
    return made;
}

model::Thread& thread(SyntheticRun& made, size_t index) { return made.run.processes.back().threads[index]; }

} // namespace

TEST_CASE("two threads that take turns with a flag: half of the run, for the variable") {
    SyntheticRun made = program(4);
    add_worker(made, 1, 0, 5000, 5000);
    add_worker(made, 1, 0, 5000, 5000);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("2 threads spin for `turn`") == 0);
    CHECK(findings[0].cost.seconds == Approx(5).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.5).epsilon(0.01));
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].where.at(0).line == 30);
    CHECK(std::get<double>(findings[0].evidence.at("spinning_cpu_seconds")) == Approx(10).epsilon(0.01));
}

TEST_CASE("threads with unequal work at a barrier of their own: what equal work would save") {
    SyntheticRun made = program(4);
    add_worker(made, 1, 0, 4000, 6000);
    add_worker(made, 1, 0, 10000, 0);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(3).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.3).epsilon(0.01)); // 10 s less the mean of 4 and 10
}

TEST_CASE("threads whose work differs by no more than equal work may: no certain gain") {
    const auto certain_with = [](uint64_t less_work) {
        SyntheticRun made = program(4);
        add_worker(made, 1, 0, less_work, 10000 - less_work);
        add_worker(made, 1, 0, 10000, 0);
        thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
        made.finish();
        const auto findings = made.diagnose("spin-wait");
        REQUIRE(findings.size() == 1);
        return findings[0].gain.certain();
    };
    CHECK(certain_with(8000) == 0);                             // 10 s are 11 % more than the mean
    CHECK(certain_with(6000) == Approx(0.08).epsilon(0.01));    // 10 s less 1.15 * 8 s
}

TEST_CASE("threads that do equal work and wait for each other by chance: no certain gain until it is more than chance") {
    const auto certain_with = [](uint64_t work) {
        SyntheticRun made = program(4);
        add_worker(made, 1, 0, work, 10000 - work);
        add_worker(made, 1, 0, work, 10000 - work);
        thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
        made.finish();
        const auto findings = made.diagnose("spin-wait");
        REQUIRE(findings.size() == 1);
        return findings[0].gain.certain();
    };
    CHECK(certain_with(9000) == 0);
    CHECK(certain_with(6000) == Approx(0.31).epsilon(0.01)); // 4 s less 0.15 * 6 s
}

TEST_CASE("what spins nearly all its life uses a CPU, and nothing else") {
    SyntheticRun made = program(4);
    made.add_samples(0, made.add_path({kMain, kWork}), 100);
    add_worker(made, 1, 0, 500, 9500);
    add_worker(made, 1, 0, 10000, 0);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].gain.fraction == 0);
}

TEST_CASE("with more threads than CPUs, spinning takes CPU time from those that compute") {
    SyntheticRun made = program(1);
    add_worker(made, 0.5, 0.5, 2500, 2500);
    add_worker(made, 0.5, 0.5, 2500, 2500);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    thread(made, 1).wall_no_cpu_ns = SyntheticRun::ns(5);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.5).epsilon(0.01)); // 5 CPU seconds of work on one CPU
    CHECK(findings[0].advice.at(0).what == "Let waiting threads sleep");
}

TEST_CASE("spinning for a thread that other programs keep from its CPU: nothing to gain in this loop") {
    SyntheticRun made = program(2);
    add_worker(made, 1, 0, 7000, 3000);
    add_worker(made, 0.7, 0.3, 7000, 0);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    for (const Finding& finding : made.diagnose("spin-wait"))
        CHECK(finding.severity == Severity::info);
}

TEST_CASE("the first thread spins for one that works all its life: the run cannot be shorter than that") {
    SyntheticRun made(10, 4);
    made.name(kSpin, "wait_turn", "app", "/src/app.c", 30);
    made.name(kWork, "work", "app", "/src/app.c", 20);
    made.add_thread(0, 1, 0);
    made.add_thread(1, 1, 0, 1, 10);
    made.add_samples(0, made.add_path({kSpin}), 2000);
    made.add_samples(0, made.add_path({kWork}), 8000);
    made.add_samples(1, made.add_path({kWork}), 9000);
    made.run.processes.back().spin_loops.push_back({.begin = 0x400300, .end = 0x400310, .instruction = 0x400300, .width = 4,
        .pauses = true, .address = 0, .samples = 2000, .time_ns = 2'000'000'000});
    thread(made, 0).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.02).epsilon(0.01)); // 2 s in 10 s: 0.2 s outside of the other's life
    CHECK(findings[0].gain.certain() == 0);                         // such work may be that much longer by chance
}

TEST_CASE("the time account has spinning as a class of its own; the kernel's time in such a loop is not in it") {
    SyntheticRun made = program(4);
    add_worker(made, 1, 0, 5000, 5000);
    made.add_samples(1, made.add_path({kRun, kSpin}), 2500, 2500);
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    const TimeAccount account = time_account(paths);
    CHECK(account.seconds_of(TimeClass::spinning) == Approx(4).epsilon(0.01));
    CHECK(account.seconds_of(TimeClass::computing) == Approx(4).epsilon(0.01));
}

namespace {

constexpr uint64_t kYield = 0x7f0000001017, kOtherYield = 0x400208, kYieldCall = 0xffffffff81000200;

// Two threads that take turns, and yield meanwhile in a loop: its call returns to 0x400308.
SyntheticRun yielding() {
    SyntheticRun made = program(4);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(0x400308, "wait_turn", "app", "/src/app.c", 31);
    made.name(kOtherYield, "work", "app", "/src/app.c", 21);
    made.name(kYield, "sched_yield+0x7", "libc.so.6");
    made.name(kYieldCall, "__x64_sys_sched_yield", "[kernel]");
    made.run.processes.back().spin_loops[0].yield_return = 0x400308;
    return made;
}

} // namespace

TEST_CASE("a loop that yields: the time in the kernel is spinning, too, and is the loop's") {
    SyntheticRun made = yielding();
    const uint32_t in_kernel = made.add_path({kRun, 0x400308, kYield, kYieldCall}, true, true);
    const uint32_t elsewhere = made.add_path({kRun, kOtherYield, kYield, kYieldCall}, true, true);
    for (const uint32_t thread_index : {1u, 2u}) {
        made.add_thread(static_cast<int>(thread_index), 1, 0);
        made.add_samples(thread_index, made.add_path({kRun, kWork}), 5000);
        made.add_samples(thread_index, in_kernel, 3600, 3600);
        made.add_samples(thread_index, made.add_path({kRun, 0x400308, kYield}), 400);
        made.add_samples(thread_index, elsewhere, 1000, 1000); // not in a loop that only waits
    }
    thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
    made.finish();
    const auto findings = made.diagnose("spin-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("2 threads spin for `turn`") == 0);
    CHECK(findings[0].cost.seconds == Approx(4).epsilon(0.01));
    CHECK(findings[0].where.at(0).line == 31);
    model::CallPaths paths(made.run, made.resolver);
    const TimeAccount account = time_account(paths);
    CHECK(account.seconds_of(TimeClass::spinning) == Approx(8).epsilon(0.01));
    CHECK(account.seconds_of(TimeClass::kernel) == Approx(2).epsilon(0.01));
    const auto kernel = made.diagnose("kernel-time");
    REQUIRE(kernel.size() == 1);
    CHECK(kernel[0].cost.fraction < 0.2);
}

TEST_CASE("without samples of the kernel, its time is spinning as far as such calls take it on this machine") {
    for (const double factor : {3.0, 20.0}) {
        SyntheticRun made = yielding();
        made.run.evidence.push_back({.source = "perf-sampling", .state = model::Evidence::State::limited, .why = {}, .enable = {}});
        made.run.processes.back().spin_loops[0].yield_kernel_factor = factor;
        for (const uint32_t thread_index : {1u, 2u}) { // 6 s outside of the kernel, 4 s in it
            made.add_thread(static_cast<int>(thread_index), 1, 0);
            thread(made, thread_index).user_ns = SyntheticRun::ns(6);
            thread(made, thread_index).system_ns = SyntheticRun::ns(4);
            made.add_samples(thread_index, made.add_path({kRun, kWork}), 5000);
            made.add_samples(thread_index, made.add_path({kRun, 0x400308, kYield}), 1000);
        }
        thread(made, 1).wall_running_ns = SyntheticRun::ns(10);
        made.finish();
        const double spun_s = factor == 3 ? 4 : 5; // 1 s + 3 s; no more than all
        const auto findings = made.diagnose("spin-wait");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(spun_s).epsilon(0.01));
        model::CallPaths paths(made.run, made.resolver);
        const TimeAccount account = time_account(paths);
        CHECK(account.seconds_of(TimeClass::spinning) == Approx(2 * spun_s).epsilon(0.01));
        CHECK(account.seconds_of(TimeClass::kernel) == Approx(2 * (5 - spun_s)).margin(0.01));
        CHECK(account.imbalance_s() == Approx(0).margin(1e-6));
    }
}
