// The losses of OpenMP teams, with figures worked out by hand.
#include "synthetic_run.h"

#include "analyses/time/team_waits.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::testing;
using Catch::Detail::Approx;

namespace {

constexpr uint64_t kCall = 0x401000;

// A run of 10 s with one team of two threads, and one place with regions.
class TeamRun : public SyntheticRun {
  public:
    TeamRun() : SyntheticRun(10, 2) {
        add_thread(0, 1, 0);
        add_thread(1, 1, 0);
        model::Process& process = run.processes[0];
        process.paths.push_back({.parent = 0, .address = kCall});
        resolver.frames[kCall] = {{"solve", "/home/user/solve.c", 20, "app", false}};
        process.openmp.emplace();
        model::OmpRegion& added = process.openmp->regions.emplace_back();
        added.call_site = kCall;
        added.path = 1;
        added.masters = {0};
        added.most_threads = 2;
        added.parts = {{.thread = 0, .number = 0}, {.thread = 1, .number = 1}};
    }
    model::OmpRegion& region() { return run.processes[0].openmp->regions[0]; }

    // `count` regions of `wall_s` together, in which the threads work that long.
    void regions(uint64_t count, double wall_s, double work_0_s, double work_1_s, double longest_spans_s) {
        model::OmpRegion& of = region();
        of.begun = of.ended = of.compared = count;
        of.threads = 2 * count;
        of.wall_ns = of.compared_ns = ns(wall_s);
        of.longest_spans_ns = ns(longest_spans_s);
        of.most_work_ns = ns(std::max(work_0_s, work_1_s));
        of.mean_work_ns = ns((work_0_s + work_1_s) / 2);
        of.imbalance_ns = of.most_work_ns - of.mean_work_ns;
        of.parts[0].parts = of.parts[1].parts = count;
        of.parts[0].work_ns = of.parts[0].span_ns = ns(work_0_s);
        of.parts[1].work_ns = of.parts[1].span_ns = ns(work_1_s);
        of.parts[0].end_wait_ns = ns(std::max(0.0, work_1_s - work_0_s));
        of.parts[1].end_wait_ns = ns(std::max(0.0, work_0_s - work_1_s));
    }
};

} // namespace

TEST_CASE("A static triangular loop gains what equal parts would save") {
    TeamRun team;
    team.regions(10, 8, 2, 6, 8); // 25 : 75
    const auto findings = team.diagnose("omp-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.2)); // 6 s become 4 s, of 10 s
    CHECK(findings[0].gain.certain() == Approx(0.2));
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].title == "Thread 1 of 2 does 75 % of the work in a parallel region, and the others wait for it");
    REQUIRE(!findings[0].where.empty());
    CHECK(findings[0].where[0].line == 20);
    CHECK(team.diagnose("omp-small-regions").empty());
}

TEST_CASE("A program that takes a CPU from a thread of the team delays the team as long") {
    TeamRun team;
    team.regions(100, 8, 7, 8, 8);
    team.region().clocked = 100;
    team.region().clocked_imbalance_ns = TeamRun::ns(0.5);
    team.region().parts[0].clocked_ns = team.region().parts[0].cpu_ns = TeamRun::ns(7);
    team.region().parts[1].clocked_ns = TeamRun::ns(8);
    team.region().parts[1].cpu_ns = TeamRun::ns(7);
    model::Thread& late = team.run.processes[0].threads[1];
    for (int i = 0; i < 50; ++i) // 1 s together
        late.preemptions.push_back({.begin_ns = team.run.begin_ns + TeamRun::ns(0.1 + 0.16 * i),
                                    .end_ns = team.run.begin_ns + TeamRun::ns(0.12 + 0.16 * i), .cpu = 1});
    late.switches.preempted_ns = TeamRun::ns(1);
    model::OtherProcess daemon;
    daemon.pid = 77;
    daemon.name = "pollerd";
    daemon.last_cpu = 1;
    daemon.cpu_ns = TeamRun::ns(1);
    daemon.activities.push_back({.begin_ns = team.run.begin_ns, .end_ns = team.run.end_ns, .cpu_ns = TeamRun::ns(1), .cpu = 1});

    SECTION("named") {
        team.run.hosts[0].others.push_back(daemon);
        const auto findings = team.diagnose("os-noise");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(1));
        CHECK(findings[0].subject.name == "pollerd");
        CHECK(findings[0].title == "pollerd takes CPU 1 from the team of OpenMP for 20.0 ms every 160 ms: all of them wait for that");
        REQUIRE(!findings[0].where.empty());
        CHECK(findings[0].where[0].line == 20);
    }
    SECTION("nobody known") { CHECK(team.diagnose("os-noise").empty()); }
    SECTION("mostly blocked: the program counts for what it took") {
        team.run.hosts[0].others.push_back(daemon);
        late.preemptions.resize(25);
        late.switches.preempted_ns = TeamRun::ns(0.5);
        team.run.hosts[0].others[0].cpu_ns = team.run.hosts[0].others[0].activities[0].cpu_ns = TeamRun::ns(0.5);
        const auto findings = team.diagnose("os-noise");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].cost.seconds == Approx(0.5));
    }
    SECTION("it had more to do") {
        team.run.hosts[0].others.push_back(daemon);
        team.region().cpu_imbalance_ns = team.region().clocked_imbalance_ns;
        CHECK(team.diagnose("os-noise").empty());
    }
}

TEST_CASE("A thread that is late for want of a CPU has no more work than the others") {
    TeamRun team;
    team.regions(10, 8, 2, 6, 8);
    team.region().clocked = 10;
    team.region().clocked_imbalance_ns = team.region().imbalance_ns;
    team.region().cpu_imbalance_ns = 0;
    CHECK(team.diagnose("omp-imbalance").empty());
    team.region().cpu_imbalance_ns = team.region().imbalance_ns / 4 * 3;
    const auto findings = team.diagnose("omp-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.15));
}

TEST_CASE("Chance that hits another thread each time is no certain gain") {
    TeamRun team;
    team.regions(1000, 8, 3.9, 3.9, 8);
    team.region().most_work_ns = team.ns(4.3);
    team.region().imbalance_ns = team.ns(0.4);
    const auto findings = team.diagnose("omp-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("Unequal times of a loop that streams through memory are no certain gain, unless they are very unequal") {
    TeamRun team;
    team.regions(40, 8, 5.2, 2.8, 8); // 65 : 35
    team.region().function = 0x405000;
    team.name(0x405000, "all [omp region 0]", "app", "/home/user/solve.c", 50);
    team.name(0x405100, "all [omp region 0]", "app", "/home/user/solve.c", 51);
    team.add_samples(0, team.add_path({0x405100}), 5200);
    REQUIRE(team.diagnose("omp-imbalance").size() == 1);
    CHECK(team.diagnose("omp-imbalance")[0].gain.certain() == Approx(0.12)); // no loop over large arrays is known
    model::StreamingLoop& loop = team.run.processes[0].streaming_loops.emplace_back();
    loop.begin = 0x4050f0;
    loop.end = 0x405110;
    const auto findings = team.diagnose("omp-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.certain() == 0);
    CHECK(findings[0].advice[0].what == "Compare the parts of the threads first");
    team.regions(40, 8, 6, 2, 8); // a triangle
    CHECK(team.diagnose("omp-imbalance")[0].gain.certain() == Approx(0.2));
}

TEST_CASE("A chunk is quoted as a part of the iterations that lasts long against a microsecond") {
    TeamRun team;
    team.regions(1000, 8, 0.3, 0.1, 8); // each thread works for 200 us in a region: 10 chunks of 20 us
    team.region().imbalance_ns = team.ns(1);
    CHECK(team.diagnose("omp-imbalance")[0].advice[0].command == "#pragma omp parallel for schedule(dynamic, (ITERATIONS + 19) / 20)");
    team.region().mean_work_ns = team.ns(0.05); // 50 us: too short for chunks
    CHECK(team.diagnose("omp-imbalance")[0].advice[0].command.empty());
}

TEST_CASE("A thread that comes late to a barrier inside a region is named by who waits least") {
    TeamRun team;
    team.regions(1, 9, 3, 9, 9);
    team.region().imbalance_ns = 0;
    team.run.processes[0].paths.push_back({.parent = 1, .address = 0x402000});
    team.resolver.frames[0x402000] = {{"solve", "/home/user/solve.c", 30, "app", false}};
    team.run.processes[0].openmp->waits.push_back({.kind = model::OmpWaitKind::barrier, .call_site = 0x402000, .path = 2, .region = 0,
        .waiters = {{.thread = 0, .calls = 100, .timed = 100, .wait_ns = team.ns(6)}, {.thread = 1, .calls = 100, .timed = 100, .wait_ns = team.ns(0.2)}}});
    const auto findings = team.diagnose("omp-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.29)); // (6 + 0.2) / 2 - 0.2 of 10 s
    CHECK(findings[0].title == "Thread 1 of 2 comes late to a barrier in a parallel region, and the others wait for it");
    CHECK(findings[0].where[0].line == 30);
}

TEST_CASE("Waits for a critical cost their share of each thread of the team") {
    TeamRun team;
    team.regions(1, 9, 9, 9, 9);
    team.run.processes[0].paths.push_back({.parent = 1, .address = 0x402000});
    team.resolver.frames[0x402000] = {{"solve", "/home/user/solve.c", 33, "app", false}};
    team.run.processes[0].openmp->waits.push_back({.kind = model::OmpWaitKind::critical, .call_site = 0x402000, .path = 2, .region = 0,
        .waiters = {{.thread = 0, .calls = 9, .timed = 9, .wait_ns = team.ns(2)}, {.thread = 1, .calls = 9, .timed = 9, .wait_ns = team.ns(3)}}});
    const auto findings = team.diagnose("omp-critical");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.25));
    CHECK(findings[0].where[0].line == 33);
    CHECK(team.diagnose("omp-imbalance").empty());
}

TEST_CASE("A thread that waits for all turns of the other, and is then waited for, costs its wait, not half of it") {
    for (const double end_wait_s : {4.0, 0.5}) {
        TeamRun team;
        team.regions(1, 9, 5, 5, 9);
        team.region().parts[0].end_wait_ns = team.ns(end_wait_s);
        team.run.processes[0].paths.push_back({.parent = 1, .address = 0x402000});
        team.resolver.frames[0x402000] = {{"solve", "/home/user/solve.c", 33, "app", false}};
        team.run.processes[0].openmp->waits.push_back({.kind = model::OmpWaitKind::critical, .call_site = 0x402000, .path = 2, .region = 0,
            .waiters = {{.thread = 0, .calls = 9, .timed = 9, .wait_ns = 0}, {.thread = 1, .calls = 9, .timed = 9, .wait_ns = team.ns(4)}}});
        const auto findings = team.diagnose("omp-critical");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].gain.fraction == Approx(end_wait_s > 2 ? 0.4 : 0.2)); // else half of the wait, as where threads take turns
        CHECK(findings[0].cost.how == (end_wait_s > 2 ? "estimated" : "measured"));
        CHECK(findings[0].gain.certain() == Approx(0.2));
    }
}

TEST_CASE("A critical that is entered millions of times costs what its entry and exit take, by samples") {
    TeamRun team;
    team.regions(1, 9, 9, 9, 9);
    constexpr uint64_t kEnter = 0x402000, kLeave = 0x402100, kWork = 0x402200, kInEnter = 0x700100, kInLeave = 0x700200;
    team.add_module("/usr/lib/libgomp.so.1.0.0", 0x700000, 0x710000);
    team.name(kEnter, "solve", "app", "/home/user/solve.c", 33);
    team.name(kLeave, "solve", "app", "/home/user/solve.c", 34);
    team.name(kWork, "solve", "app", "/home/user/solve.c", 35);
    team.name(kInEnter, "GOMP_critical_start", "libgomp.so.1.0.0");
    team.name(kInLeave, "libgomp.so.1.0.0+0x200", "libgomp.so.1.0.0"); // no name: known by the call
    team.resolver.called[kLeave] = "GOMP_critical_end";
    const uint32_t entry = team.add_path({kEnter});
    team.run.processes[0].openmp->waits.push_back({.kind = model::OmpWaitKind::critical, .call_site = kEnter, .path = entry, .region = 0,
        .waiters = {{.thread = 0, .calls = 900, .timed = 9, .wait_ns = team.ns(0.02)}, {.thread = 1, .calls = 900, .timed = 9, .wait_ns = team.ns(0.02)}}});
    for (const uint32_t thread : {0U, 1U}) { // each runs for 10 s: 5 of them entering, 1 leaving
        team.add_samples(thread, team.add_path({kEnter, kInEnter}), 5000);
        team.add_samples(thread, team.add_path({kLeave, kInLeave}), 1000);
        team.add_samples(thread, team.add_path({kWork}), 4000);
    }
    const auto findings = team.diagnose("omp-critical");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.6)); // 12 s of CPU time, divided among two threads, of 10 s
}

TEST_CASE("Regions that last longer than their work takes one thread are too small for a team") {
    TeamRun team;
    team.regions(400'000, 4, 1.2, 1.2, 1.5); // 10 us each, 3 us of work a thread
    const auto findings = team.diagnose("omp-small-regions");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(2.5));
    CHECK(findings[0].gain.fraction == Approx(0.25)); // start and join; one thread alone: 4 - 2.4 = 1.6 s
    CHECK(findings[0].gain.certain() == Approx(0.16));
    team.regions(4'000, 4, 1.2, 1.2, 1.5); // 1 ms each: no small ones
    CHECK(team.diagnose("omp-small-regions").empty());
}

TEST_CASE("Waits in regions are known for threads that only take part") {
    TeamRun team;
    team.regions(10, 8, 6, 2, 8);
    team.region().parts[1].wait_ns = team.ns(1);
    auto waits = team_waits_of(team.run.processes[0]);
    CHECK(!waits[0].has_value()); // it starts the regions
    REQUIRE(waits[1].has_value());
    CHECK(*waits[1] == Approx(5));
    team.region().compared = 9; // of one region nothing is known
    CHECK(!team_waits_of(team.run.processes[0])[1].has_value());
}

TEST_CASE("Serial code between regions is bound by Amdahl's law and named by its heaviest function") {
    TeamRun team;
    team.regions(100, 4, 3.9, 3.9, 3.95);
    team.add_module("/usr/lib/libgomp.so.1", 0x700000, 0x710000);
    team.name(0x403000, "update", "app", "/home/user/solve.c", 40);
    team.name(0x404000, "work", "app", "/home/user/solve.c", 50);
    team.add_samples(0, team.add_path({0x403000}), 5000);                     // 5 s outside of regions
    team.add_samples(0, team.add_path({kCall, 0x700100, 0x404000}), 3900);    // inside
    const auto findings = team.diagnose("omp-serial");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(2.5));
    CHECK(findings[0].gain.fraction == Approx(0.25)); // 5 s divided among two
    CHECK(findings[0].where[0].line == 40);
}

namespace {

constexpr uint64_t kTaskCall = 0x401100, kWaitCall = 0x401200, kChunkCall = 0x401300, kWork = 0x401400;
constexpr uint64_t kTask = 0x700100, kTaskLock = 0x700200, kTaskwait = 0x700300, kTakeChunk = 0x700400, kMalloc = 0x800100;

// Samples of a run of 10 s on two CPUs, below calls into the OpenMP runtime.
class RuntimeSamples : public TeamRun {
  public:
    RuntimeSamples() {
        add_module("/usr/lib/libgomp.so.1.0.0", 0x700000, 0x710000);
        add_module("/usr/lib/libc.so.6", 0x800000, 0x810000);
        for (uint64_t call : {kTaskCall, kWaitCall, kChunkCall, kWork})
            resolver.frames[call] = {{"solve", "/home/user/solve.c", static_cast<uint32_t>((call >> 8) & 0xf), "app", false}};
        name(kTask, "GOMP_task", "libgomp.so.1.0.0");
        name(kTaskwait, "GOMP_taskwait", "libgomp.so.1.0.0");
        name(kTaskLock, "libgomp.so.1.0.0+0x200", "libgomp.so.1.0.0");
        name(kTakeChunk, "libgomp.so.1.0.0+0x400", "libgomp.so.1.0.0");
        name(kMalloc, "malloc", "libc.so.6");
    }
    void sampled(const std::vector<uint64_t>& path, uint64_t samples) { add_samples(0, add_path(path), samples); }
};

} // namespace

TEST_CASE("Making tasks is counted with the lock and the memory that it takes, taking them up as no more than that") {
    RuntimeSamples run;
    run.sampled({kWork}, 8000);
    run.sampled({kTaskCall, kTask}, 400);
    run.sampled({kTaskCall, kTask, kTaskLock}, 300);
    run.sampled({kTaskCall, kTask, kMalloc}, 300);
    run.sampled({kWaitCall, kTaskwait, kTaskLock}, 1000);
    auto findings = run.diagnose("omp-granularity");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title == "Making OpenMP tasks takes 10 % of the CPU time: they are too small");
    CHECK(findings[0].gain.certain() == Approx(0.09)); // tasks ten times as large
    CHECK(findings[0].gain.fraction == Approx(0.2));
    REQUIRE(!findings[0].where.empty());
    CHECK(findings[0].where[0].line == 1);
}

TEST_CASE("Waiting for tasks is no making of tasks") {
    RuntimeSamples run;
    run.sampled({kWork}, 5000);
    run.sampled({kTaskCall, kTask}, 50);
    run.sampled({kWaitCall, kTaskwait, kTaskLock}, 4950);
    CHECK(run.diagnose("omp-granularity").empty());
}

TEST_CASE("Waiting for tasks beyond what the others work is the runtime's doing") {
    RuntimeSamples run;
    run.sampled({kWork}, 1000);
    run.sampled({kTaskCall, kTask}, 1000);
    run.sampled({kWaitCall, kTaskwait, kTaskLock}, 8000);
    run.add_samples(1, run.add_path({kWork}), 3000);
    run.add_samples(1, run.add_path({kWaitCall, kTaskwait, kTaskLock}), 7000);
    const auto findings = run.diagnose("omp-granularity");
    REQUIRE(findings.size() == 1);
    // 15 s of waiting; one of the two threads works for 4 s, and the other one may wait for it.
    CHECK(findings[0].gain.certain() == Approx(0.9 * (1 + 11) / 20));
    CHECK(findings[0].gain.fraction == Approx(12.0 / 20));
    CHECK(findings[0].title == "Making OpenMP tasks and taking them up takes 60 % of the CPU time: they are too small");
}

TEST_CASE("The runtime's code without a name is known by the call that led to it") {
    RuntimeSamples run;
    run.sampled({kWork}, 7500);
    run.sampled({kChunkCall, kTakeChunk}, 2500);
    CHECK(run.diagnose("omp-granularity").empty());
    run.resolver.called[kChunkCall] = "GOMP_loop_nonmonotonic_dynamic_next";
    const auto findings = run.diagnose("omp-granularity");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.certain() == Approx(0.225));
    CHECK(findings[0].where[0].line == 3);
    run.resolver.called[kChunkCall] = "GOMP_loop_ordered_dynamic_next"; // may wait
    CHECK(run.diagnose("omp-granularity").empty());
}

namespace {

// One place with tasks, 8 of 10 s in 20 regions. Of the worker's time 3 s are work, and of the first thread's all but `master_waits_s`.
TeamRun with_tasks(double master_waits_s, const char* runtime_function = "libgomp.so.1+0x100") {
    constexpr uint64_t kRuntime = 0x7f0000000100, kTask = 0x402000;
    TeamRun team;
    team.add_module("/usr/lib/x86_64-linux-gnu/libgomp.so.1", 0x7f0000000000, 0x7f0000010000);
    team.name(kRuntime, runtime_function, "libgomp.so.1");
    team.name(kTask, "piece", "app", "/home/user/solve.c", 30);
    team.region().has_tasks = true;
    team.region().begun = team.region().ended = 20;
    team.region().wall_ns = TeamRun::ns(8);
    const uint32_t waits = team.add_path({kRuntime}), works = team.add_path({kTask});
    team.add_samples(0, works, static_cast<uint64_t>(1000 * (10 - master_waits_s)));
    team.add_samples(0, waits, static_cast<uint64_t>(1000 * master_waits_s));
    team.add_samples(1, works, 3000);
    team.add_samples(1, waits, 7000); // 2 s of them between regions
    team.finish();
    return team;
}

} // namespace

TEST_CASE("Threads without a task: what a worker does not work in regions with tasks, and what the first thread waits") {
    TeamRun team = with_tasks(1);
    const auto findings = team.diagnose("omp-tasks");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.3)); // 5 s and 1 s, of two threads
    CHECK(findings[0].gain.kind() == Gain::Kind::upper_bound);
    CHECK(findings[0].title == "2 threads have no task to do for 38 % of the time of parallel regions with tasks");
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].where.at(0).line == 20);
}

TEST_CASE("Work in regions without tasks is none in those with tasks") {
    TeamRun team = with_tasks(1);
    model::OmpRegion& loop = team.run.processes[0].openmp->regions.emplace_back();
    loop.masters = {0};
    loop.most_threads = 2;
    loop.begun = loop.ended = loop.compared = 5;
    loop.wall_ns = loop.compared_ns = TeamRun::ns(1);
    loop.parts = {{.thread = 0, .number = 0}, {.thread = 1, .number = 1, .work_ns = TeamRun::ns(1)}};
    const auto findings = team.diagnose("omp-tasks");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.35));
}

TEST_CASE("Waits in taskwait, teams that are not known, and time without a CPU are not called a lack of tasks") {
    CHECK(with_tasks(0, "GOMP_taskwait+0x20").diagnose("omp-tasks").empty());
    TeamRun nested = with_tasks(1);
    nested.region().nested = true;
    CHECK(nested.diagnose("omp-tasks").empty());
    TeamRun two_masters = with_tasks(1);
    two_masters.region().masters = {0, 1};
    CHECK(two_masters.diagnose("omp-tasks").empty());
    TeamRun replaced = with_tasks(1);
    replaced.region().most_threads = 3;
    CHECK(replaced.diagnose("omp-tasks").empty());
    TeamRun crowded = with_tasks(0);
    for (model::Thread& thread : crowded.run.processes[0].threads) {
        thread.run_ns = TeamRun::ns(5); // the worker waits 3.5 s, 2 s of them between regions
        thread.run_delay_ns = TeamRun::ns(5);
    }
    const auto findings = crowded.diagnose("omp-tasks");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.075));
    CHECK(findings[0].severity == Severity::low);
}

TEST_CASE("Where making tasks takes long they are too small, and that is another finding's") {
    CHECK(with_tasks(1, "GOMP_task+0x20").diagnose("omp-tasks").empty());
}
