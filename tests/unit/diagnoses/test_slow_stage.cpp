// Pipelines with a slow stage, on made-up runs whose gain can be worked out by hand.
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;
using Relation = model::WaitedFor::Relation;

namespace {

constexpr uint64_t kMain = 0x400100, kPack = 0x400200, kMake = 0x400300, kPut = 0x400400, kGet = 0x400500;
constexpr uint64_t kCondWait = 0x7f0000001000, kTimedWait = 0x7f0000002000, kJoin = 0x7f0000003000, kRead = 0x7f0000004000,
                   kWrite = 0x7f0000005000, kPoll = 0x7f0000006000;
constexpr double kRun_s = 10;

void add_libc(SyntheticRun& made) { made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000); }

SyntheticRun program(int cpus = 4) {
    SyntheticRun made(kRun_s, cpus);
    add_libc(made);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kPack, "pack", "app", "/src/app.c", 20);
    made.name(kMake, "make", "app", "/src/app.c", 30);
    made.name(kPut, "put", "app", "/src/app.c", 40);
    made.name(kGet, "get", "app", "/src/app.c", 50);
    made.name(kCondWait, "pthread_cond_wait+0x1d0", "libc.so.6");
    made.name(kTimedWait, "pthread_cond_timedwait+0x1d0", "libc.so.6");
    made.name(kJoin, "pthread_join+0x23", "libc.so.6");
    made.name(kRead, "read+0x12", "libc.so.6");
    made.name(kWrite, "write+0x12", "libc.so.6");
    made.name(kPoll, "poll+0x12", "libc.so.6");
    return made;
}

// Of a thread of the last process: it waits `time_s` for `other` (process, thread), if there is one.
void waits(SyntheticRun& made, uint32_t thread, const std::vector<uint64_t>& path, int call, double time_s,
           std::optional<std::pair<uint32_t, uint32_t>> other = std::nullopt, uint64_t count = 500) {
    model::Process& process = made.run.processes.back();
    model::BlockedSite site;
    site.thread = thread;
    site.path = made.add_path(path);
    site.system_call = call;
    site.looks = 300;
    site.waits = count;
    site.time_ns = SyntheticRun::ns(time_s);
    process.blocked.push_back(site);
    if (!other)
        return;
    model::WaitedFor waited;
    waited.thread = thread;
    waited.path = site.path;
    waited.system_call = call;
    waited.relation = call == SYS_futex ? Relation::work : Relation::peer;
    waited.peer_process = other->first;
    waited.peer_thread = other->second;
    waited.looks = site.looks;
    waited.time_ns = site.time_ns;
    process.waited_for.push_back(waited);
}

void computes(SyntheticRun& made, int cpu, double run_s, const std::vector<uint64_t>& path, double wall_s) {
    made.add_thread(cpu, run_s / kRun_s, 0).wall_running_ns = SyntheticRun::ns(wall_s);
    if (run_s > 0)
        made.add_samples(static_cast<uint32_t>(made.run.processes.back().threads.size() - 1), made.add_path(path),
                         static_cast<uint64_t>(run_s * 1000));
}

// The first thread joins two: one makes items for `make_s` of 10 s and waits for room, the other one packs them all the time.
SyntheticRun pipeline(double make_s, double pack_s = 10, const std::vector<uint64_t>& put = {kMake, kPut, kCondWait}, int cpus = 4) {
    SyntheticRun made = program(cpus);
    computes(made, 0, 0, {}, 0);
    computes(made, 0, make_s, {kMake}, 0);
    computes(made, 1, pack_s, {kPack}, kRun_s);
    waits(made, 0, {kMain, kJoin}, SYS_futex, kRun_s);
    waits(made, 1, put, SYS_futex, kRun_s - make_s, std::pair{0u, 2u});
    if (pack_s < kRun_s)
        waits(made, 2, {kPack, kGet, kCondWait}, SYS_futex, kRun_s - pack_s, std::pair{0u, 1u}, 20);
    made.finish();
    return made;
}

} // namespace

TEST_CASE("the stage that others wait for is named with its line; the next slowest stage and the CPUs bound the gain") {
    SyntheticRun made = pipeline(4);
    const auto findings = made.diagnose("slow-stage");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("waits for it in 60 % of the run") != std::string::npos);
    CHECK(findings[0].cost.seconds == Approx(6).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.6).epsilon(0.01));
    CHECK(findings[0].gain.kind() == Gain::Kind::upper_bound); // then the next slowest decides
    CHECK(findings[0].severity == Severity::high);
    REQUIRE(!findings[0].where.empty());
    CHECK(findings[0].where[0].line == 20);
    CHECK(findings[0].subject.kind == "thread");
    CHECK(std::get<std::vector<std::string>>(findings[0].evidence.at("waiting_at")).at(0).find("app.c:40") != std::string::npos);
    SyntheticRun two_cpus = pipeline(4, 10, {kMake, kPut, kCondWait}, 2);
    REQUIRE(two_cpus.diagnose("slow-stage").size() == 1);
    const Gain gain = two_cpus.diagnose("slow-stage")[0].gain; // 14 s of CPU time: 7 s of two CPUs, or 4 s if 6 s are saved
    CHECK(gain.fraction == Approx(0.6).epsilon(0.01));
    CHECK(gain.how.find("about 30 % if its work is divided") != std::string::npos);
    CHECK(gain.likely.value() == Approx(0.3).epsilon(0.01));
}

TEST_CASE("a thread that spins for half of its time is no slow stage") {
    SyntheticRun made = pipeline(4);
    constexpr uint64_t kSpin = 0x400600;
    made.run.processes.back().spin_loops.push_back({.begin = kSpin, .end = kSpin + 16, .instruction = kSpin, .width = 4,
        .address = 0x601000, .samples = 100, .time_ns = 100'000'000});
    CHECK(made.diagnose("slow-stage").size() == 1);
    made.add_samples(2, made.add_path({kPack, kSpin}), 10'000); // as many as pack() has
    made.finish();
    CHECK(made.diagnose("slow-stage").empty());
}

TEST_CASE("stages of nearly equal speed are no finding, nor is one that waits as often itself") {
    CHECK(pipeline(8.5).diagnose("slow-stage").empty());
    SyntheticRun turns = pipeline(2, 8);
    turns.run.processes[0].blocked.back().waits = 500; // each item is waited for on both sides
    CHECK(turns.diagnose("slow-stage").empty());
    CHECK(pipeline(2, 8).diagnose("slow-stage").size() == 1);
    CHECK(pipeline(2, 6).diagnose("slow-stage").empty()); // it waits too long for that itself
}

TEST_CASE("who hardly works counts only if it is known to bring the work") {
    // As a log is written: the thread that waits lives as long as the busy one.
    SyntheticRun log = pipeline(0.5);
    CHECK(log.diagnose("slow-stage").empty());
    SyntheticRun brings = pipeline(0.5);
    brings.run.processes[0].threads[1].end_ns -= SyntheticRun::ns(0.01);
    REQUIRE(brings.diagnose("slow-stage").size() == 1);
    CHECK(brings.diagnose("slow-stage")[0].severity == Severity::high);
    brings.run.processes[0].waited_for.clear(); // it waits so long that the recorder takes it for an idle one
    CHECK(brings.diagnose("slow-stage").size() == 1);
}

TEST_CASE("a first thread that only waits for the results of one other is information") {
    SyntheticRun made = program();
    computes(made, 0, 0.2, {kMain}, 0);
    computes(made, 1, 10, {kPack}, kRun_s);
    waits(made, 0, {kMain, kPut, kCondWait}, SYS_futex, 9.8, std::pair{0u, 1u});
    made.finish();
    const auto findings = made.diagnose("slow-stage");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("waits that end by time, or by what comes from outside, are for nobody") {
    CHECK(pipeline(4, 10, {kMake, kPut, kTimedWait}).diagnose("slow-stage").empty());
    SyntheticRun events = pipeline(4);
    waits(events, 0, {kMain, kPoll}, SYS_ppoll, kRun_s); // each event may be handed to the thread that waits
    CHECK(events.diagnose("slow-stage").empty());
}

TEST_CASE("a stage that sleeps most of the time is not slow; one that writes a file is") {
    for (const bool sleeps : {true, false}) {
        SyntheticRun made = program();
        computes(made, 0, 0, {}, 0);
        computes(made, 0, 3, {kMake}, 0);
        computes(made, 1, 1, {kPack}, 1);
        waits(made, 0, {kMain, kJoin}, SYS_futex, kRun_s);
        waits(made, 1, {kMake, kPut, kCondWait}, SYS_futex, 7, std::pair{0u, 2u});
        waits(made, 2, {kPack, kWrite}, sleeps ? SYS_clock_nanosleep : SYS_fsync, 9);
        made.run.processes.back().blocked.back().wall_ns = SyntheticRun::ns(9);
        made.run.processes.back().blocked.back().descriptor = sleeps ? "" : "/a/file";
        made.finish();
        const auto findings = made.diagnose("slow-stage");
        REQUIRE(findings.size() == (sleeps ? 0 : 1));
        if (!sleeps)
            CHECK(std::get<std::string>(findings[0].evidence.at("slow_stage_is")) == "blocked in fsync of /a/file");
    }
}

TEST_CASE("threads of one pool, and threads of which several may be waited for, are no pipeline") {
    SyntheticRun pool = pipeline(4);
    pool.resolver.frames[kMake] = pool.resolver.frames[kPack];
    CHECK(pool.diagnose("slow-stage").empty());
    SyntheticRun two = pipeline(4);
    two.run.processes[0].waited_for[0].time_ns /= 2;
    two.run.processes[0].waited_for.push_back(two.run.processes[0].waited_for[0]);
    two.run.processes[0].waited_for.back().peer_thread = 0;
    CHECK(two.diagnose("slow-stage").empty());
    SyntheticRun few = pipeline(4);
    few.run.processes[0].blocked[1].waits = 3;
    CHECK(few.diagnose("slow-stage").empty());
}

TEST_CASE("several fast threads make one stage, whose work is added up") {
    SyntheticRun made = program();
    computes(made, 0, 10, {kMain, kMake}, kRun_s);
    for (const uint32_t thread : {1u, 2u, 3u})
        computes(made, 1, 0.7, {kPack}, 0), waits(made, thread, {kPack, kGet, kCondWait}, SYS_futex, 9.3);
    made.finish();
    const auto findings = made.diagnose("slow-stage");
    REQUIRE(findings.size() == 1); // each waits for more than nine tenths of its life
    CHECK(findings[0].where[0].line == 30);
    CHECK(std::get<int64_t>(findings[0].evidence.at("waiting_thread_count")) == 3);
    CHECK(made.diagnose("serial-part").empty());
}

namespace {

// A process writes to a pipe, another one reads from it, and one of the two works all the time.
SyntheticRun pipe_of(bool slow_reader, double other_s) {
    SyntheticRun made = program();
    computes(made, 0, slow_reader ? other_s : 10, {kMake}, slow_reader ? 0 : kRun_s);
    if (slow_reader)
        waits(made, 0, {kMake, kPut, kWrite}, SYS_write, kRun_s - other_s, std::pair{1u, 0u});
    made.add_process("reader");
    add_libc(made);
    computes(made, 1, slow_reader ? 10 : other_s, {kPack}, slow_reader ? kRun_s : 0);
    if (!slow_reader)
        waits(made, 0, {kPack, kGet, kRead}, SYS_read, kRun_s - other_s, std::pair{0u, 0u});
    for (model::Process& process : made.run.processes)
        for (model::BlockedSite& site : process.blocked)
            site.descriptor = "pipe:[4711]";
    for (model::Process& process : made.run.processes)
        for (model::WaitedFor& waited : process.waited_for)
            waited.descriptor = "pipe:[4711]";
    made.finish();
    return made;
}

} // namespace

TEST_CASE("a pipe between two processes of which one is slow, either way") {
    for (const bool slow_reader : {true, false}) {
        SyntheticRun made = pipe_of(slow_reader, 4);
        const auto findings = made.diagnose("slow-stage");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].gain.fraction == Approx(0.6).epsilon(0.01));
        CHECK(findings[0].subject.kind == "process");
        CHECK(findings[0].subject.name == (slow_reader ? "reader (200)" : "app (100)"));
        CHECK(findings[0].where[0].line == (slow_reader ? 20 : 30));
        CHECK(made.diagnose("pipe-wait").empty());
    }
}

TEST_CASE("who only reads what another process makes is no stage; who only writes is held up") {
    CHECK(pipe_of(false, 0.1).diagnose("slow-stage").empty()); // make | cat
    CHECK(pipe_of(true, 0.1).diagnose("slow-stage").size() == 1); // cat | pack
    CHECK(pipe_of(true, 9.5).diagnose("slow-stage").empty());
}
