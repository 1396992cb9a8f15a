// Findings about waits, on made-up runs whose gain can be worked out by hand.
#include "analyses/time/time_account.h"
#include "diagnoses/wait/wait_replay.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <set>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kHold = 0x400200, kWant = 0x400300, kSave = 0x400400, kPoll = 0x400500;
constexpr uint64_t kFsync = 0x7f0000001000, kMutexLock = 0x7f0000003000, kJoin = 0x7f0000004000, kSleep = 0x7f0000005000,
                   kRead = 0x7f0000006000, kBarrier = 0x7f0000007000, kFutex = 0xffffffff81000100;
constexpr uint64_t kLock = 0x601000;

SyntheticRun program(double seconds, int cpus = 4) {
    SyntheticRun made(seconds, cpus);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kHold, "hold", "app", "/src/app.c", 20);
    made.name(kWant, "want", "app", "/src/app.c", 30);
    made.name(kSave, "save", "app", "/src/app.c", 40);
    made.name(kPoll, "poll", "app", "/src/app.c", 50);
    made.name(kFsync, "fsync+0x14", "libc.so.6");
    made.name(kMutexLock, "pthread_mutex_lock+0x113", "libc.so.6");
    made.name(kJoin, "pthread_join+0x23", "libc.so.6");
    made.name(kSleep, "clock_nanosleep+0x23", "libc.so.6");
    made.name(kBarrier, "pthread_barrier_wait+0x23", "libc.so.6");
    made.name(kRead, "read+0x12", "libc.so.6");
    return made;
}

model::BlockedSite& blocked(SyntheticRun& made, uint32_t thread, uint32_t path, int call, double time_s, double wall_s,
                            double alone_s = 0) {
    model::BlockedSite site;
    site.thread = thread;
    site.path = path;
    site.system_call = call;
    site.looks = site.waits = 100;
    site.time_ns = SyntheticRun::ns(time_s);
    site.wall_ns = SyntheticRun::ns(wall_s);
    site.alone_ns = SyntheticRun::ns(alone_s);
    made.run.processes.back().blocked.push_back(site);
    return made.run.processes.back().blocked.back();
}

// The first thread joins two that take turns with a lock: each runs half of the time and waits the other half.
SyntheticRun two_take_turns(int cpus) {
    SyntheticRun made = program(10, cpus);
    made.add_thread(0, 0, 0);
    made.add_thread(1, 0.5, 0);
    made.add_thread(cpus > 1 ? 2 : 1, 0.5, 0);
    const uint32_t want = made.add_path({kWant, kMutexLock}), hold = made.add_path({kHold});
    made.run.processes.back().threads[1].wall_running_ns = made.run.processes.back().threads[2].wall_running_ns =
        SyntheticRun::ns(5);
    blocked(made, 0, made.add_path({kMain, kJoin}), SYS_futex, 10, 0);
    for (const uint32_t thread : {1u, 2u}) {
        blocked(made, thread, want, SYS_futex, 5, 0).object = kLock;
        made.run.processes.back().lock_holders.push_back({.thread = thread, .path = want, .object = kLock,
            .holder = 3 - thread, .holder_path = hold, .looks = 100, .time_ns = SyntheticRun::ns(5),
            .wall_ns = SyntheticRun::ns(thread == 1 ? 5 : 0)});
    }
    made.add_samples(1, hold, 5000);
    made.add_samples(2, hold, 5000);
    made.finish();
    return made;
}

} // namespace

TEST_CASE("a share of the wall time is known well by many looks; any number of them, and any share, may stand in a file") {
    CHECK(is_known_well(100, 0.2));
    CHECK_FALSE(is_known_well(4, 0.9));
    CHECK_FALSE(is_known_well(1000, 1e-20));
    CHECK_FALSE(is_known_well(1000, std::numeric_limits<double>::quiet_NaN()));
    CHECK(is_known_well(UINT64_MAX, 0.2));
}

TEST_CASE("two threads that take turns with a lock: half of the run, on the holder's line") {
    SyntheticRun made = two_take_turns(4);
    const auto findings = made.diagnose("lock-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(5).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.5).epsilon(0.01));
    CHECK(findings[0].gain.certain() == Approx(0.5).epsilon(0.01));
    CHECK(findings[0].severity == Severity::high);
    REQUIRE(!findings[0].where.empty());
    CHECK(findings[0].where[0].line == 20);
    CHECK(std::get<std::vector<std::string>>(findings[0].evidence.at("waiting_at")).at(0).find("app.c:30") != std::string::npos);
}

TEST_CASE("on one CPU a lock costs nothing that another layout could save") {
    SyntheticRun made = two_take_turns(1);
    for (const Finding& finding : made.diagnose("lock-wait"))
        CHECK(finding.severity == Severity::info);
}

TEST_CASE("a lock whose holder nobody saw, or that no wall time depended on, is no finding") {
    SyntheticRun unknown = two_take_turns(4);
    unknown.run.processes.back().lock_holders.clear();
    CHECK(unknown.diagnose("lock-wait").empty());
    SyntheticRun beside = two_take_turns(4);
    for (model::LockHolder& holder : beside.run.processes.back().lock_holders)
        holder.wall_ns = 0;
    CHECK(beside.diagnose("lock-wait").empty());
}

TEST_CASE("syncing again and again: what the longest other thread does bounds the gain") {
    for (const double others_run : {0.1, 0.8}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0.3, 0);
        made.add_thread(1, others_run, 0);
        made.add_samples(0, made.add_path({kMain}), 3000);
        made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(3);
        blocked(made, 0, made.add_path({kMain, kSave, kFsync}), SYS_fsync, 7, 7).descriptor = "/data/journal";
        blocked(made, 1, made.add_path({kWant, kJoin}), SYS_futex, 10 * (1 - others_run), 0);
        made.finish();
        const auto findings = made.diagnose("io-wait");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].gain.fraction == Approx(others_run == 0.1 ? 0.7 : 0.2).epsilon(0.01));
        CHECK(findings[0].gain.likely.value() == Approx(findings[0].gain.fraction * 0.99));
        CHECK(findings[0].where.at(0).line == 40);
        CHECK(findings[0].subject.name == "/data/journal");
    }
}

TEST_CASE("a short run needs few looks at a frequent wait, a long run many at a rare one") {
    for (const auto& [looks, wall_s, found] : {std::tuple{8, 3.0, true}, std::tuple{3, 3.0, false}, std::tuple{6, 0.15, false}}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 1 - wall_s / 10, 0);
        made.add_samples(0, made.add_path({kMain}), 7000);
        made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(10 - wall_s);
        model::BlockedSite& site = blocked(made, 0, made.add_path({kMain, kSave, kFsync}), SYS_fsync, wall_s, wall_s);
        site.looks = site.waits = static_cast<uint64_t>(looks);
        made.finish();
        CHECK(made.diagnose("io-wait").size() == (found ? 1 : 0));
    }
}

TEST_CASE("what a sync takes in the kernel goes with its wait, and is reported once") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.6, 0);
    const uint32_t sync = made.add_path({kMain, kSave, kFsync});
    made.add_samples(0, made.add_path({kMain}), 3000);
    made.add_samples(0, sync, 3000, 3000);
    made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(6);
    blocked(made, 0, sync, SYS_fsync, 4, 4).descriptor = "/data/journal";
    made.finish();
    const auto findings = made.diagnose("io-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(7).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.7).epsilon(0.01));
    CHECK(made.diagnose("kernel-time").empty());
    made.run.processes.back().blocked.clear();
    CHECK(made.diagnose("kernel-time").size() == 1);
}

TEST_CASE("the kernel's time for a lock is reported by the lock") {
    SyntheticRun made = two_take_turns(4);
    const uint32_t futex = made.add_path({kWant, kMutexLock, kFutex}, true, true);
    made.name(kFutex, "__x64_sys_futex", "[kernel]");
    made.add_samples(1, futex, 4000, 4000);
    CHECK(made.diagnose("kernel-time").empty());
    made.run.processes.back().lock_holders.clear();
    CHECK(made.diagnose("kernel-time").size() == 1);
}

TEST_CASE("large reads are information: the bytes must be read; small ones are a cost") {
    for (const uint64_t request : {4096u, 1u << 20}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kMain}), 5000);
        made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(5);
        model::BlockedSite& site = blocked(made, 0, made.add_path({kMain, kSave, kRead}), SYS_read, 5, 5);
        site.descriptor = "/data/in";
        site.bytes = site.waits * request;
        made.finish();
        const auto findings = made.diagnose("io-wait");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == (request == 4096 ? Severity::high : Severity::info));
    }
}

TEST_CASE("page faults of a fast disk are counted where looks hardly meet them") {
    for (const uint64_t blocked_count : {1000u, 5000u}) { // 5000: it was blocked for something else most times
        SyntheticRun made = program(10);
        made.add_thread(0, 0.6, 0); // blocked for 4 s
        made.add_samples(0, made.add_path({kMain}), 6000);
        model::Thread& thread = made.run.processes.back().threads[0];
        thread.wall_running_ns = SyntheticRun::ns(9.9); // so it seems
        thread.switches.blocked_count = blocked_count;
        blocked(made, 0, made.add_path({kMain, kSave}), -1, 0.1, 0.1);
        made.run.processes.back().blocked.back().looks = 1;
        made.run.processes.back().page_reads.push_back({.thread = 0, .address = kSave, .source = model::PageRead::Source::file,
                                                        .file = "/data/table", .faults = 1000, .ahead = 0, .mapped_bytes = 1u << 30});
        made.finish();
        const auto findings = made.diagnose("page-in");
        REQUIRE(findings.size() == (blocked_count == 1000 ? 1 : 0));
        if (!findings.empty()) {
            CHECK(findings[0].cost.fraction == Approx(0.4));
            CHECK(findings[0].severity == Severity::high);
        }
    }
}

TEST_CASE("page faults all over a cold file cost what they wait; a walk through it, or code, is information") {
    using Source = model::PageRead::Source;
    for (const auto& [source, ahead, severity] :
         {std::tuple{Source::file, 10, Severity::high}, std::tuple{Source::file, 900, Severity::info},
          std::tuple{Source::code, 10, Severity::info}, std::tuple{Source::unknown, 10, Severity::info},
          std::tuple{Source::swap, 10, Severity::high}}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kMain}), 5000);
        made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(5);
        blocked(made, 0, made.add_path({kMain, kSave}), -1, 5, 5);
        auto& reads = made.run.processes.back().page_reads;
        reads.push_back({.thread = 0, .address = kSave, .source = source, .file = "/data/table", .faults = 1000,
                         .ahead = static_cast<uint64_t>(ahead), .mapped_bytes = 1u << 30});
        reads.push_back({.thread = 0, .address = kMain, .source = Source::file, .file = "/data/other", .faults = 5000,
                         .ahead = 0, .mapped_bytes = 1u << 20});
        made.finish();
        const auto findings = made.diagnose("page-in");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == severity);
        CHECK(findings[0].gain.fraction == Approx(0.5).epsilon(0.01));
        if (source == Source::file && severity == Severity::high) // less one of 1000 waits, and 16 MB at 500 MB/s
            CHECK(findings[0].gain.likely.value() == Approx(0.4995 - 0.00328).margin(0.002));
        CHECK(findings[0].where.at(0).line == 40);
        CHECK(findings[0].subject.name == "/data/table");
        CHECK(std::get<int64_t>(findings[0].evidence.at("page_fault_count")) == 1000);
        CHECK(made.diagnose("io-wait").empty());
    }
}

TEST_CASE("what reads a mapped file ahead takes time itself: that much of the faults' time is not likely to be gained") {
    const auto likely_with = [](uint64_t mapped_bytes) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kMain}), 5000);
        made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(5);
        blocked(made, 0, made.add_path({kMain, kSave}), -1, 5, 5);
        made.run.processes.back().page_reads.push_back({.thread = 0, .address = kSave, .source = model::PageRead::Source::file,
                                                        .file = "/data/table", .faults = 100'000, .ahead = 0,
                                                        .mapped_bytes = mapped_bytes});
        made.finish();
        const auto findings = made.diagnose("page-in");
        REQUIRE(findings.size() == 1);
        return findings[0].gain.likely.value();
    };
    CHECK(likely_with(500'000'000) == Approx(0.4).epsilon(0.01));        // all of the file in a second
    CHECK(likely_with(1'000'000'000'000) == Approx(0.172).epsilon(0.02)); // four times the pages, 1.6 GB: in 3.3 s
}

namespace {

// 10 s: 2 s of work, and 8 s in a loop that sleeps.
SyntheticRun loop_that_sleeps(const std::function<void(model::BlockedSite&)>& change) {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.2, 0);
    made.add_samples(0, made.add_path({kMain}), 2000);
    made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(2);
    model::BlockedSite& site = blocked(made, 0, made.add_path({kMain, kPoll, kSleep}), SYS_clock_nanosleep, 8, 8, 6);
    site.waits = 300;
    site.quiet_ns = SyntheticRun::ns(6);
    site.overdue_ns = SyntheticRun::ns(4);
    change(site);
    made.finish();
    return made;
}

} // namespace

TEST_CASE("a loop that sleeps is a finding only where nothing else goes on, and where it sleeps again and again") {
    using Site = model::BlockedSite;
    CHECK(loop_that_sleeps([](Site& site) { site.alone_ns = site.quiet_ns = site.overdue_ns = 0; }).diagnose("sleep-poll").empty());
    CHECK(loop_that_sleeps([](Site& site) { site.waits = 2; }).diagnose("sleep-poll").empty());
    const auto findings = loop_that_sleeps([](Site&) {}).diagnose("sleep-poll");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].where.at(0).line == 50);
    CHECK(findings[0].gain.fraction == Approx(0.6).epsilon(0.01)); // nothing else happened in 6 s
    CHECK(findings[0].gain.certain() == Approx(0.4).epsilon(0.01)); // 4 s of them after another thread had worked
    CHECK(findings[0].severity == Severity::high);
}

TEST_CASE("what a loop's own OpenMP team did was done before the loop went to sleep") {
    SyntheticRun made = loop_that_sleeps([](model::BlockedSite&) {});
    made.add_thread(1, 0.2, 0);
    model::OmpRegion region;
    region.masters = {0};
    region.parts.resize(2);
    region.parts[1].thread = 1;
    std::vector<model::OmpRegion>& regions = made.run.processes.back().openmp.emplace().regions;
    regions.push_back(region);
    const auto own = made.diagnose("sleep-poll");
    REQUIRE(own.size() == 1);
    CHECK(own[0].severity == Severity::info);
    regions[0].masters = {1}; // a team of the other thread
    CHECK(made.diagnose("sleep-poll").at(0).severity == Severity::high);
}

TEST_CASE("a loop that sleeps while its peer only sleeps too is a finding where they wait for one another") {
    // 5 s while nobody works; 2.5 s of them after the other one had worked.
    const auto both = [](uint64_t overdue_ns) {
        return loop_that_sleeps([&](model::BlockedSite& site) {
                   site.alone_ns = 0;
                   site.quiet_ns = SyntheticRun::ns(5);
                   site.overdue_ns = overdue_ns;
               }).diagnose("sleep-poll");
    };
    const auto findings = both(SyntheticRun::ns(2.5));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(5).epsilon(0.01));
    CHECK(findings[0].gain.fraction == Approx(0.5).epsilon(0.01));
    CHECK(findings[0].gain.certain() == Approx(0.25).epsilon(0.01));
    CHECK(both(0).empty());
}

TEST_CASE("a loop that keeps a period is no finding, or one without a certain gain") {
    using Site = model::BlockedSite;
    CHECK(loop_that_sleeps([](Site& site) { site.at_set_time = 300; }).diagnose("sleep-poll").empty());
    for (const auto& change : {std::function([](Site& site) { site.overdue_ns = 0; }),
                               std::function([](Site& site) { site.shortest_ask_ns = 5'000'000, site.longest_ask_ns = 6'000'000; })}) {
        const auto findings = loop_that_sleeps(change).diagnose("sleep-poll");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].gain.fraction == Approx(0.6).epsilon(0.01));
        CHECK(findings[0].gain.certain() == 0);
    }
    const auto same = loop_that_sleeps([](Site& site) { site.shortest_ask_ns = site.longest_ask_ns = 5'000'000; }).diagnose("sleep-poll");
    REQUIRE(same.size() == 1);
    CHECK(same[0].severity == Severity::high);
}

TEST_CASE("who sleeps with a lock that others want does not poll") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.2, 0);
    made.add_thread(1, 0.2, 0);
    made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(2);
    const uint32_t sleeps = made.add_path({kMain, kPoll, kSleep});
    blocked(made, 0, sleeps, SYS_clock_nanosleep, 8, 8, 6);
    made.run.processes.back().lock_holders.push_back({.thread = 1, .path = 0, .object = kLock, .holder = 0, .holder_path = sleeps});
    made.finish();
    CHECK(made.diagnose("sleep-poll").empty());
}

TEST_CASE("the wall time is divided among what it depended on, and adds up to the run") {
    SyntheticRun made = two_take_turns(4);
    model::CallPaths paths(made.run, made.resolver);
    const TimeAccount account = time_account(paths);
    CHECK(account.wall_s == Approx(10));
    double sum = 0;
    for (const AccountLine& line : account.wall)
        sum += line.seconds;
    CHECK(sum == Approx(10));
    REQUIRE(!account.wall.empty());
    CHECK(account.wall[0].kind == TimeClass::computing);
    CHECK(account.wall[0].places.at(0).frame.line == 20);
}

namespace {

using Relation = model::WaitedFor::Relation;

void waited_for(SyntheticRun& made, const model::BlockedSite& site, Relation relation, uint32_t peer_process, uint32_t peer_thread,
                double time_s, size_t process = 0) {
    made.run.processes[process].waited_for.push_back({.thread = site.thread, .path = site.path, .system_call = site.system_call,
        .descriptor = {}, .object = site.object, .relation = relation, .peer_process = peer_process, .peer_thread = peer_thread, .looks = 100,
        .time_ns = SyntheticRun::ns(time_s)});
}

} // namespace

TEST_CASE("a lock that does not say who holds it: of two threads it is the other one, of more it is not known") {
    constexpr uint64_t kSyscall = 0x7f0000007100, kContended = 0x400a00, kPost = 0x400b00;
    for (const uint32_t threads : {2u, 3u}) {
        SyntheticRun made = program(10, 4);
        made.name(kSyscall, "syscall+0x19", "libc.so.6");
        made.name(kContended, "std::sys::sync::mutex::futex::Mutex::lock_contended", "app", "/src/app.rs", 70);
        made.name(kPost, "post", "app", "/src/app.rs", 80);
        const uint32_t want = made.add_path({kPost, kContended, kSyscall}), hold = made.add_path({kHold});
        for (uint32_t thread = 0; thread < threads; ++thread) {
            made.add_thread(thread, 0.5, 0);
            made.run.processes.back().threads[thread].wall_running_ns = SyntheticRun::ns(5);
        }
        for (uint32_t thread = 0; thread < threads; ++thread) {
            model::BlockedSite& site = blocked(made, thread, want, SYS_futex, 5, 0);
            site.object = kLock;
            waited_for(made, site, Relation::work, 0, (thread + 1) % threads, 5);
            model::WaitedFor& waited = made.run.processes.back().waited_for.back();
            waited.peer_path = hold;
            waited.wall_ns = SyntheticRun::ns(2.5);
        }
        made.add_samples(0, hold, 500);
        made.finish();
        const auto findings = made.diagnose("lock-wait");
        REQUIRE(findings.size() == (threads == 2 ? 1 : 0));
        if (findings.empty())
            continue;
        CHECK(findings[0].cost.fraction == Approx(0.5));
        CHECK(findings[0].where.at(0).line == 20);
        CHECK(findings[0].title.find("held during computing") != std::string::npos);
    }
}

TEST_CASE("what the kernel does for a lock that does not say who holds it counts for the lock, and is reported once") {
    constexpr uint64_t kContended = 0x400a00, kPost = 0x400b00;
    SyntheticRun made = program(10, 4);
    made.name(kContended, "std::sys::sync::mutex::futex::Mutex::lock_contended", "app", "/src/app.rs", 70);
    made.name(kPost, "post", "app", "/src/app.rs", 80);
    made.name(kFutex, "__x64_sys_futex", "[kernel]");
    const uint32_t want = made.add_path({kPost, kContended}), hold = made.add_path({kHold});
    const uint32_t futex = made.add_path({kPost, kContended, kFutex}, true, true);
    made.run.processes.back().paths[futex].kernel = true;
    for (const uint32_t thread : {0u, 1u}) { // 4 s computing, 4 s in the kernel for the lock, 2 s blocked
        made.add_thread(thread, 0.8, 0);
        made.run.processes.back().threads[thread].wall_running_ns = SyntheticRun::ns(4);
        made.add_samples(thread, hold, 4000);
        made.add_samples(thread, futex, 4000, 4000);
    }
    for (const uint32_t thread : {0u, 1u}) {
        model::BlockedSite& site = blocked(made, thread, want, SYS_futex, 2, 0);
        site.object = kLock;
        waited_for(made, site, Relation::work, 0, 1 - thread, 2);
        made.run.processes.back().waited_for.back().peer_path = hold;
        made.run.processes.back().waited_for.back().wall_ns = SyntheticRun::ns(1);
    }
    made.finish();
    const auto findings = made.diagnose("lock-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.6).epsilon(0.02)); // each thread has 4 s of work left
    CHECK(findings[0].gain.kind() == Gain::Kind::estimate);
    CHECK(findings[0].gain.certain() == Approx(0.2).epsilon(0.02)); // what was blocked
    CHECK(made.diagnose("kernel-time").empty());
}

namespace {

// Two processes: the first waits `first_waits_s` of 10 s for the second, which waits for it the rest of the time.
SyntheticRun dialogue(double first_waits_s, bool answers = true) {
    SyntheticRun made = program(10);
    made.add_thread(0, 1 - first_waits_s / 10, 0);
    made.add_samples(0, made.add_path({kMain}), 1000);
    waited_for(made, blocked(made, 0, made.add_path({kMain, kWant, kRead}), SYS_read, first_waits_s, 0), Relation::peer, 1, 0,
               first_waits_s);
    made.add_process("helper");
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.add_thread(1, first_waits_s / 10, 0);
    made.add_samples(0, made.add_path({kHold}), 1000);
    if (answers)
        waited_for(made, blocked(made, 0, made.add_path({kMain, kPoll, kRead}), SYS_read, 10 - first_waits_s, 0), Relation::peer, 0,
                   0, 10 - first_waits_s, 1);
    made.finish();
    return made;
}

// Threads 1 and 2 meet at a barrier, at which the first waits for the second.
SyntheticRun barrier(double waits_s, int cpus = 4) {
    SyntheticRun made = program(10, cpus);
    made.add_thread(0, 0, 0);
    made.add_thread(0, 1 - waits_s / 10, 0);
    made.add_thread(cpus > 1 ? 1 : 0, 1, 0);
    made.add_samples(2, made.add_path({kMain, kHold}), 1000);
    blocked(made, 0, made.add_path({kMain, kJoin}), SYS_futex, 10, 0);
    model::BlockedSite& site = blocked(made, 1, made.add_path({kMain, kWant, kBarrier}), SYS_futex, waits_s, 0);
    site.object = kLock;
    waited_for(made, site, Relation::work, 0, 2, waits_s);
    made.finish();
    return made;
}

} // namespace

TEST_CASE("two processes that take turns could compute at the same time: the shorter wait is the gain") {
    SyntheticRun made = dialogue(4);
    const auto findings = made.diagnose("pipe-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(0.4).epsilon(0.02));
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].subject.name == "app (100)"); // the second one waits longer
    REQUIRE(findings[0].where.size() == 2);
    CHECK(std::set<uint32_t>{findings[0].where[0].line, findings[0].where[1].line} == std::set<uint32_t>{10, 20});
}

TEST_CASE("who reads what another process makes, and is never waited for, is no finding; nor is it on one CPU") {
    SyntheticRun script = dialogue(9, false);
    CHECK(script.diagnose("pipe-wait").empty());
    SyntheticRun one_cpu = dialogue(4);
    one_cpu.run.hosts[0].cpu_count = 1;
    one_cpu.run.hosts[0].allowed_cpus = {0};
    CHECK(one_cpu.diagnose("pipe-wait").empty());
}

TEST_CASE("two processes that mostly work at the same time, or have no CPU, do not take turns") {
    SyntheticRun both = dialogue(4);
    for (model::Process& process : both.run.processes) { // each waits less than a third of the time, at other moments
        process.threads[0].run_ns = SyntheticRun::ns(7);
        process.blocked[0].time_ns = process.waited_for[0].time_ns = SyntheticRun::ns(3);
    }
    CHECK(both.diagnose("pipe-wait").empty());
    SyntheticRun no_cpu = dialogue(4);
    for (model::Process& process : no_cpu.run.processes) {
        process.threads[0].run_delay_ns = process.threads[0].run_ns / 2;
        process.threads[0].run_ns /= 2;
    }
    CHECK(no_cpu.diagnose("pipe-wait").empty());
}

TEST_CASE("who computes and waits for children in turn could do both at once; a shell that only waits is no finding") {
    for (const double own_s : {3.0, 0.5}) {
        SyntheticRun made = program(10);
        made.add_thread(0, own_s / 10, 0);
        made.add_samples(0, made.add_path({kMain}), 1000);
        waited_for(made, blocked(made, 0, made.add_path({kMain, kWant}), SYS_wait4, 10 - own_s, 0), Relation::child, 1, 0, 10 - own_s);
        made.run.processes[0].threads[0].wall_running_ns = made.ns(own_s);
        made.add_process("sh").parent_pid = 100;
        made.add_thread(1, 0, 0);
        made.add_process("pack").parent_pid = 200; // the shell's own child
        made.add_thread(1, 1 - own_s / 10, 0);
        made.add_samples(0, made.add_path({kHold}), 1000);
        made.run.processes[2].threads[0].wall_running_ns = made.ns(10 - own_s);
        made.finish();
        const auto findings = made.diagnose("child-wait");
        REQUIRE(findings.size() == (own_s > 1 ? 1 : 0));
        if (findings.empty())
            continue;
        CHECK(findings[0].cost.seconds == Approx(7).epsilon(0.01));
        CHECK(findings[0].gain.fraction == Approx(0.3).epsilon(0.01));
        CHECK(findings[0].gain.certain() == Approx(0));
        CHECK(findings[0].severity == Severity::info);
        CHECK(findings[0].subject.name == "pack");
        REQUIRE(!findings[0].where.empty());
        CHECK(findings[0].where[0].line == 20);
    }
}

TEST_CASE("who starts processes by the hundred is named with all that depended on them; shells and make are not blamed") {
    for (const std::string starter : {"app", "shell", "make"}) {
        SyntheticRun made = program(10);
        made.run.hosts[0].sample_period_ns = 4'000'000;
        made.run.processes[0].has_shim = starter != "shell";
        made.run.processes[0].name = starter;
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kMain}), 1000);
        blocked(made, 0, made.add_path({kMain, kWant}), SYS_wait4, 5, 0);
        made.run.processes[0].threads[0].wall_running_ns = made.ns(5);
        for (int item = 0; item < 150; ++item) { // a shell each, which waits for a program
            model::Process& shell = made.add_process("sh");
            shell.parent_pid = 100;
            shell.pid_namespace = 0;
            made.add_thread(1, 0.001, 0, 0, 1);
            model::Process& helper = made.add_process("tr");
            helper.parent_pid = made.run.processes[made.run.processes.size() - 2].pid;
            helper.has_shim = true;
            helper.pid_namespace = 4; // known by the shim alone
            helper.own_cost_ns = 10'000'000;
            made.add_thread(1, 0.001, 0, 0, 0.02).wall_running_ns = made.ns(1.0 / 30);
        }
        made.finish();
        const auto findings = made.diagnose("process-starts");
        REQUIRE(findings.size() == (starter == "app" ? 1 : 0));
        if (findings.empty())
            continue;
        // 150 times 33 ms, less 10 ms of plumb's own; of 10 s, less that too.
        CHECK(findings[0].cost.seconds == Approx(3.5).epsilon(0.01));
        CHECK(findings[0].gain.fraction == Approx(3.5 / 8.5).epsilon(0.01));
        CHECK(std::get<int64_t>(findings[0].evidence.at("process_count")) == 300);
        CHECK(findings[0].where.at(0).line == 30);
    }
}

TEST_CASE("of two threads one waits two thirds of its time at a barrier: a third of the run, on the late one's line") {
    SyntheticRun made = barrier(20.0 / 3);
    const auto findings = made.diagnose("thread-imbalance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == Approx(1.0 / 3).epsilon(0.02));
    CHECK(findings[0].where.at(0).line == 20);
    CHECK(std::get<std::vector<std::string>>(findings[0].evidence.at("waiting_at")).at(0).find("app.c:30") != std::string::npos);
}

TEST_CASE("threads that run equally long, the late one after waiting for a CPU, are not unequal; nor is one nobody saw late") {
    SyntheticRun no_cpu = barrier(20.0 / 3);
    no_cpu.run.processes[0].threads[2].run_ns = SyntheticRun::ns(10.0 / 3);
    no_cpu.run.processes[0].threads[2].run_delay_ns = SyntheticRun::ns(20.0 / 3);
    CHECK(no_cpu.diagnose("thread-imbalance").empty());
    SyntheticRun nobody = barrier(20.0 / 3);
    nobody.run.processes[0].waited_for.clear();
    CHECK(nobody.diagnose("thread-imbalance").empty());
}

TEST_CASE("who hands out the work, and waits at the barrier until it is done, is none of the pool") {
    for (const bool same_work : {true, false}) {
        SyntheticRun made = barrier(9.5);
        made.add_samples(1, same_work ? made.add_path({kMain, kHold}) : made.add_path({kPoll}), 500);
        CHECK(made.diagnose("thread-imbalance").size() == (same_work ? 1 : 0));
    }
}

TEST_CASE("a pool whose last thread runs on alone while it is joined; not two threads with different work") {
    for (const bool same_work : {true, false}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0, 0);
        made.add_thread(0, 1, 0, 0, 2);
        made.add_thread(1, 1, 0, 0, 10);
        made.add_samples(1, made.add_path({same_work ? kWant : kPoll, kHold}), 1000);
        made.add_samples(2, made.add_path({kWant, kHold}), 5000);
        waited_for(made, blocked(made, 0, made.add_path({kMain, kJoin}), SYS_futex, 10, 0), Relation::end, 0, 2, 8);
        made.finish();
        const auto findings = made.diagnose("thread-imbalance");
        REQUIRE(findings.size() == (same_work ? 1 : 0));
        if (same_work) {
            CHECK(findings[0].gain.fraction == Approx(0.4).epsilon(0.02));
            CHECK(findings[0].where.at(0).line == 20);
        }
    }
}

TEST_CASE("of the time in which the run depends on a thread that could run, what it had no CPU is not computing") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.4, 0.6);
    made.add_samples(0, made.add_path({kMain}), 4000);
    made.run.processes.back().threads[0].wall_running_ns = SyntheticRun::ns(10);
    made.run.processes.back().threads[0].wall_no_cpu_ns = SyntheticRun::ns(6);
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    const TimeAccount account = time_account(paths);
    REQUIRE(account.wall.size() == 2);
    CHECK(account.wall[0].kind == TimeClass::no_cpu);
    CHECK(account.wall[0].seconds == Approx(6));
    CHECK(account.wall[1].kind == TimeClass::computing);
    CHECK(account.wall[1].seconds == Approx(4));
}
