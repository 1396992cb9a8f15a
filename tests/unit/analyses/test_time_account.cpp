// The time account on made-up runs whose classes can be worked out by hand, and the parser it rests on.
#include "analyses/time/time_account.h"
#include "platform/task_syscall.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMain = 0x400100, kLoop = 0x400200, kSave = 0x400300, kWorker = 0x400400;
constexpr uint64_t kFsync = 0x7f0000001000, kCondWait = 0x7f0000002000, kMutexLock = 0x7f0000003000,
                   kJoin = 0x7f0000004000, kFutexHelper = 0x7f0000005000;

SyntheticRun program(double seconds) {
    SyntheticRun made(seconds, 4);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kMain, "main", "app", "/src/app.c", 10);
    made.name(kLoop, "loop", "app", "/src/app.c", 20);
    made.name(kSave, "save", "app", "/src/app.c", 30);
    made.name(kWorker, "worker", "app", "/src/app.c", 40);
    made.name(kFsync, "fsync+0x14", "libc.so.6");
    made.name(kCondWait, "pthread_cond_wait+0x210", "libc.so.6");
    made.name(kMutexLock, "pthread_mutex_lock+0x113", "libc.so.6");
    made.name(kJoin, "pthread_join+0x23", "libc.so.6");
    made.name(kFutexHelper, "libc.so.6+0x85a00", "libc.so.6");
    return made;
}

void add_blocked(SyntheticRun& made, uint32_t thread, uint32_t path, int call, double time_s, std::string descriptor = "",
                 uint64_t object = 0) {
    model::BlockedSite site;
    site.thread = thread;
    site.path = path;
    site.system_call = call;
    site.descriptor = std::move(descriptor);
    site.object = object;
    site.looks = 10;
    site.time_ns = SyntheticRun::ns(time_s);
    made.run.processes.back().blocked.push_back(site);
}

TimeAccount account_of(SyntheticRun& made) {
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    return time_account(paths);
}

double seconds_of(const TimeAccount& account, TimeClass kind, WaitKind wait = WaitKind::other) {
    double sum = 0;
    for (const AccountLine& line : account.lines)
        if (line.kind == kind && (kind != TimeClass::blocked || line.wait == wait))
            sum += line.seconds;
    return sum;
}

} // namespace

TEST_CASE("time off the CPU is divided by the looks, and everything adds up") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.3, 0.1); // 3 s on a CPU, 1 s without one, 6 s blocked
    made.add_samples(0, made.add_path({kMain, kLoop}), 150);
    // Looks found twice as much time in fsync as in the lock; their sum is not the exact 6 s.
    add_blocked(made, 0, made.add_path({kMain, kSave, kFsync}), SYS_fsync, 2, "/data/out");
    add_blocked(made, 0, made.add_path({kMain, kWorker, kMutexLock, kFutexHelper}), SYS_futex, 1, "", 0x1000);
    const TimeAccount account = account_of(made);
    CHECK(account.total_s == Approx(10));
    CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
    CHECK(seconds_of(account, TimeClass::computing) == Approx(3));
    CHECK(seconds_of(account, TimeClass::no_cpu) == Approx(1));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::file_sync) == Approx(4));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::lock) == Approx(2));
    REQUIRE(!account.lines.empty());
    CHECK(account.lines[0].wait == WaitKind::file_sync);
    REQUIRE(!account.lines[0].places.empty());
    CHECK(account.lines[0].places[0].frame.line == 30);
}

TEST_CASE("the shim's work on its own file is no wait of the program's") {
    constexpr uint64_t kCut = 0x7f2000000100, kFtruncate = 0x7f0000006000;
    SyntheticRun made = program(10);
    made.add_module("/opt/lib/libplumb.so", 0x7f2000000000, 0x7f2000010000);
    made.name(kCut, "plumb::shim::cut", "libplumb.so");
    made.name(kFtruncate, "ftruncate+0x7", "libc.so.6");
    made.add_thread(0, 0, 0);
    add_blocked(made, 0, made.add_path({kMain, kCut}), SYS_ftruncate, 1, "/run/process.plumb");
    add_blocked(made, 0, made.add_path({kMain, kCut, kFtruncate}), SYS_ftruncate, 9, "/data/out"); // called through a hook
    const TimeAccount account = account_of(made);
    CHECK(seconds_of(account, TimeClass::plumb) == Approx(1));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::file) == Approx(9));
}

TEST_CASE("what the shim waits for by calls of its own, a barrier of all CPUs or a sleep, is plumb's; the program's sleep is not") {
    constexpr uint64_t kOwn = 0x7f2000000100, kNanosleep = 0x7f0000005000;
    SyntheticRun made = program(10);
    made.add_module("/opt/lib/libplumb.so", 0x7f2000000000, 0x7f2000010000);
    made.name(kOwn, "plumb::shim::order_all", "libplumb.so");
    made.name(kNanosleep, "clock_nanosleep+0x23", "libc.so.6");
    made.add_thread(0, 0, 0);
    add_blocked(made, 0, made.add_path({kMain, kOwn}), SYS_membarrier, 1, "");
    add_blocked(made, 0, made.add_path({kMain, kOwn}), SYS_clock_nanosleep, 2, "");
    add_blocked(made, 0, made.add_path({kMain, kNanosleep}), SYS_clock_nanosleep, 7, "");
    const TimeAccount account = account_of(made);
    CHECK(seconds_of(account, TimeClass::plumb) == Approx(3));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::sleep) == Approx(7));
}

TEST_CASE("without looks the time off the CPU is unknown, and nothing is invented") {
    SyntheticRun made = program(4);
    made.add_thread(0, 0.5, 0);
    made.add_samples(0, made.add_path({kMain, kLoop}), 150);
    const TimeAccount account = account_of(made);
    CHECK_FALSE(account.looked);
    CHECK(seconds_of(account, TimeClass::unknown) == Approx(2));
    CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
}

TEST_CASE("a pool thread that waits for work idles, one that works half of its time does not") {
    SyntheticRun made = program(10);
    made.add_thread(0, 1, 0);
    made.add_samples(0, made.add_path({kMain, kLoop}), 1000);
    made.add_thread(1, 0.02, 0);
    made.add_thread(2, 0.5, 0);
    const uint32_t waits = made.add_path({kWorker, kCondWait, kFutexHelper});
    add_blocked(made, 1, waits, SYS_futex, 9.8, "", 0x1000);
    add_blocked(made, 2, waits, SYS_futex, 5, "", 0x2000);
    const TimeAccount account = account_of(made);
    CHECK(account.idle_threads == 1);
    CHECK(account.idle_s == Approx(9.8));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::condition) == Approx(5));
    CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
}

TEST_CASE("who joins a thread hands its time over to that thread; the first thread never idles") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0, 0);
    made.add_thread(1, 1, 0);
    made.add_samples(1, made.add_path({kWorker, kLoop}), 1000);
    add_blocked(made, 0, made.add_path({kMain, kJoin, kFutexHelper}), SYS_futex, 9, "", 0x1000);
    const TimeAccount account = account_of(made);
    CHECK(account.handed_over_s == Approx(10));
    CHECK(account.own_s() == Approx(10));
    CHECK(account.idle_threads == 0);

    SyntheticRun server = program(10);
    server.add_thread(0, 0, 0);
    add_blocked(server, 0, server.add_path({kMain}), SYS_epoll_pwait, 10);
    CHECK(account_of(server).idle_threads == 0);
}

TEST_CASE("a futex that no function of a library explains is a lock where a holder was seen") {
    for (const bool held : {false, true}) {
        SyntheticRun made = program(10);
        made.add_thread(0, 0.5, 0);
        made.add_thread(1, 1, 0);
        const uint32_t path = made.add_path({kMain, kLoop});
        add_blocked(made, 0, path, SYS_futex, 5, "", 0x1000);
        if (held)
            made.run.processes.back().lock_holders.push_back({.thread = 0, .path = path, .object = 0x1000, .holder = 1});
        const TimeAccount account = account_of(made);
        CHECK(seconds_of(account, TimeClass::blocked, held ? WaitKind::lock : WaitKind::futex) == Approx(5));
    }
}

TEST_CASE("reads are distinguished by what the descriptor refers to") {
    using Case = std::pair<const char*, WaitKind>;
    for (const auto& [descriptor, kind] :
         {Case{"/data/in", WaitKind::file}, Case{"pipe:[7]", WaitKind::pipe}, Case{"socket:[8]", WaitKind::network},
          Case{"anon_inode:[eventfd]", WaitKind::events}, Case{"/dev/pts/0", WaitKind::terminal}, Case{"", WaitKind::other}}) {
        SyntheticRun made = program(2);
        made.add_thread(0, 0, 0);
        add_blocked(made, 0, made.add_path({kMain}), SYS_read, 2, descriptor);
        INFO(descriptor);
        CHECK(seconds_of(account_of(made), TimeClass::blocked, kind) == Approx(2));
    }
}

TEST_CASE("the file that says what a thread is blocked in") {
    using platform::parse_task_syscall;
    CHECK(parse_task_syscall("running\n")->running);
    const auto call = parse_task_syscall("202 0x7ffe12 0x80 0x0 0x0 0x0 0xffffffffffffffff 0x7ffc0000 0x7f1200\n");
    REQUIRE(call);
    CHECK(call->number == 202);
    CHECK(call->arguments[0] == 0x7ffe12);
    CHECK(call->arguments[5] == UINT64_MAX);
    CHECK(call->sp == 0x7ffc0000);
    CHECK(call->pc == 0x7f1200);
    const auto fault = parse_task_syscall("-1 0x7ffc0000 0x401000\n");
    REQUIRE(fault);
    CHECK(fault->number == -1);
    CHECK(fault->pc == 0x401000);
    for (const char* text : {"", "x", "202", "202 0x1 0x2", "-2 0x1 0x2", "-1 1 2", "1 0x 0x 0x 0x 0x 0x 0x1 0x2",
                             "1 0xg 0x0 0x0 0x0 0x0 0x0 0x1 0x2"})
        CHECK_FALSE(parse_task_syscall(text));
}

TEST_CASE("time inside the kernel that was not sampled is not shared out among the places in user mode") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0.8, 0);
    made.run.processes[0].threads[0].user_ns = SyntheticRun::ns(2);
    made.run.processes[0].threads[0].system_ns = SyntheticRun::ns(6);
    made.add_samples(0, made.add_path({kMain, kLoop}), 800);
    SECTION("perf saw user mode alone") {
        made.run.evidence.push_back({"perf-sampling", model::Evidence::State::limited, "user mode alone", ""});
        const TimeAccount account = account_of(made);
        CHECK(seconds_of(account, TimeClass::kernel) == Approx(0.75 * account.threads[0].run_s));
        CHECK(seconds_of(account, TimeClass::computing) == Approx(0.25 * account.threads[0].run_s));
        CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
    }
    SECTION("samples show the kernel") {
        made.run.evidence.push_back({"perf-sampling", model::Evidence::State::ok, "", ""});
        CHECK(seconds_of(account_of(made), TimeClass::kernel) == 0);
    }
    SECTION("a timer's signal comes when the kernel is left: its samples stand for both") {
        made.run.evidence.push_back({"perf-sampling", model::Evidence::State::missing, "forbidden", ""});
        CHECK(seconds_of(account_of(made), TimeClass::kernel) == 0);
    }
}

TEST_CASE("what MPI calls and is no code of the program's waits as MPI does, whatever its library is called") {
    constexpr uint64_t kInit = 0x7f2000000100, kDevice = 0x7f3000000100, kOperator = 0x7f4000000100, kNanosleep = 0x7f0000005000;
    SyntheticRun made = program(10);
    made.add_module("/opt/mpi/lib/libmpi.so.40", 0x7f2000000000, 0x7f2000010000);
    made.add_module("/usr/lib/x86_64-linux-gnu/libinfinipath.so.4.0", 0x7f3000000000, 0x7f3000010000);
    made.add_module("/home/me/liboperators.so", 0x7f4000000000, 0x7f4000010000);
    made.name(kInit, "PMPI_Init+0x4d", "libmpi.so.40");
    made.name(kDevice, "libinfinipath.so.4.0+0x100", "libinfinipath.so.4.0");
    made.name(kOperator, "add_slowly+0x10", "liboperators.so");
    made.name(kNanosleep, "clock_nanosleep+0x23", "libc.so.6");
    made.add_thread(0, 0, 0);
    add_blocked(made, 0, made.add_path({kMain, kInit, kDevice, kNanosleep}), SYS_clock_nanosleep, 5);
    add_blocked(made, 0, made.add_path({kMain, kDevice, kNanosleep}), SYS_clock_nanosleep, 3);
    add_blocked(made, 0, made.add_path({kMain, kInit, kOperator, kNanosleep}), SYS_clock_nanosleep, 2);
    const TimeAccount account = account_of(made);
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::mpi) == Approx(5));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::sleep) == Approx(5));
}

TEST_CASE("locks of Rust's library and of Java's runtime are locks, not futexes of the program's own") {
    constexpr uint64_t kSyscall = 0x7f0000006000, kLockContended = 0x400500, kPark = 0x7f1000000100, kEnter = 0x7f1000000200,
                       kObjectWait = 0x7f1000000300;
    for (const auto& [path, wait] : {std::pair{std::vector<uint64_t>{kWorker, kLockContended, kSyscall}, WaitKind::lock},
                                     std::pair{std::vector<uint64_t>{kEnter, kPark, kCondWait}, WaitKind::lock},
                                     std::pair{std::vector<uint64_t>{kObjectWait, kEnter, kPark, kCondWait}, WaitKind::condition},
                                     std::pair{std::vector<uint64_t>{kWorker, kSyscall}, WaitKind::futex}}) {
        SyntheticRun made = program(10);
        made.add_module("/usr/lib/jvm/lib/server/libjvm.so", 0x7f1000000000, 0x7f1000010000);
        made.name(kSyscall, "syscall+0x19", "libc.so.6");
        made.name(kLockContended, "std::sys::sync::mutex::futex::Mutex::lock_contended", "app", "/rustc/1/futex.rs", 61);
        made.name(kPark, "os::PlatformEvent::park+0x117", "libjvm.so");
        made.name(kEnter, "ObjectMonitor::enter+0x250", "libjvm.so");
        made.name(kObjectWait, "ObjectMonitor::wait+0x1a5", "libjvm.so");
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kMain, kLoop}), 500);
        add_blocked(made, 0, made.add_path(path), SYS_futex, 5, "", 0x1000);
        CHECK(seconds_of(account_of(made), TimeClass::blocked, wait) == Approx(5));
    }
}

TEST_CASE("a thread that sleeps in Go's runtime is parked: no lock of the program, and no futex of its own") {
    constexpr uint64_t kStop = 0x400500, kGoFutex = 0x400600;
    SyntheticRun made = program(10);
    made.name(kStop, "runtime.stopm", "app", "/usr/local/go/src/runtime/proc.go", 2894);
    made.name(kGoFutex, "runtime.futex", "app", "/usr/local/go/src/runtime/sys_linux_amd64.s", 570);
    made.add_thread(0, 0.5, 0);
    made.add_samples(0, made.add_path({kMain, kLoop}), 500);
    add_blocked(made, 0, made.add_path({kStop, kGoFutex}), SYS_futex, 5, "", 0x1000);
    const TimeAccount account = account_of(made);
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::parked) == Approx(5));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::futex) == 0);
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::lock) == 0);
}

TEST_CASE("a condition inside of Python's runtime state is the interpreter lock, another one is not") {
    constexpr uint64_t kEval = 0x7f2000000100, kRuntime = 0x7f2000008000;
    for (const uint64_t object : {kRuntime + 432, uint64_t{0x7f0000cafe00}}) {
        SyntheticRun made = program(10);
        made.add_module("/usr/bin/python3.11", 0x7f2000000000, 0x7f2000010000);
        made.name(kEval, "_PyEval_EvalFrameDefault+0x45ee", "python3.11");
        made.resolver.data = [](uint64_t address) -> std::optional<model::DataName> {
            if (address < kRuntime || address >= kRuntime + 4096)
                return std::nullopt;
            model::DataName data;
            data.name = "_PyRuntime";
            return data;
        };
        made.add_thread(0, 0.5, 0);
        made.add_samples(0, made.add_path({kEval}), 500);
        add_blocked(made, 0, made.add_path({kEval, kCondWait}), SYS_futex, 5, "", object);
        const bool is_lock = object == kRuntime + 432;
        CHECK(seconds_of(account_of(made), TimeClass::blocked, WaitKind::lock) == Approx(is_lock ? 5 : 0));
    }
}

TEST_CASE("threads too brief to be met wait and run as those of their process do that few looks and samples met, and no others") {
    SyntheticRun made = program(10);
    made.add_thread(0, 0, 0);
    add_blocked(made, 0, made.add_path({kMain, kJoin, kFutexHelper}), SYS_futex, 10);
    made.add_thread(1, 0.8, 0); // many looks and samples: no example for the others
    made.add_samples(1, made.add_path({kWorker, kSave}), 8000);
    add_blocked(made, 1, made.add_path({kWorker, kFsync}), SYS_fsync, 2, "/data/out");
    made.add_thread(2, 0.1, 0, 0, 0.4); // 40 ms on a CPU: met by both
    made.add_samples(2, made.add_path({kWorker, kLoop}), 1);
    add_blocked(made, 2, made.add_path({kWorker, kMutexLock, kFutexHelper}), SYS_futex, 0.1, "", 0x1000);
    made.run.processes.back().blocked.back().looks = 1;
    made.add_thread(3, 0.1, 0, 1, 1.3); // not met, and not longer
    SECTION("as long as those that were met") {
        const TimeAccount account = account_of(made);
        CHECK(seconds_of(account, TimeClass::blocked, WaitKind::lock) == Approx(0.36 + 0.27));
        CHECK(seconds_of(account, TimeClass::computing) == Approx(8 + 0.04 + 0.03));
        CHECK(seconds_of(account, TimeClass::unknown) == 0);
        CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
    }
    SECTION("longer: something is wrong with the looks") {
        made.add_thread(3, 0.1, 0, 2, 6);
        const TimeAccount account = account_of(made);
        CHECK(seconds_of(account, TimeClass::unknown) == Approx(4));
        CHECK(seconds_of(account, TimeClass::blocked, WaitKind::lock) == Approx(0.36 + 0.27));
    }
}

TEST_CASE("a progress thread of an MPI library idles, the first thread that waits in MPI does not") {
    constexpr uint64_t kProgress = 0x7f2000000100, kEpoll = 0x7f0000005000;
    SyntheticRun made = program(10);
    made.add_module("/opt/mpi/lib/libmpi.so.40", 0x7f2000000000, 0x7f2000010000);
    made.name(kProgress, "progress_engine+0x4d", "libmpi.so.40");
    made.name(kEpoll, "epoll_wait+0x1e", "libc.so.6");
    const uint32_t path = made.add_path({kProgress, kEpoll});
    for (uint32_t thread = 0; thread < 2; ++thread) {
        made.add_thread(0, 0, 0);
        add_blocked(made, thread, path, SYS_epoll_wait, 10);
    }
    const TimeAccount account = account_of(made);
    CHECK(account.idle_s == Approx(10));
    CHECK(seconds_of(account, TimeClass::blocked, WaitKind::mpi) == Approx(10));
}

TEST_CASE("what ran for less than a sample's period is no unknown: the account names its program") {
    for (const double run_ms : {3.0, 9.0}) {
        SyntheticRun made = program(10);
        made.run.hosts[0].sample_period_ns = 4'000'000;
        made.add_process("expr");
        made.add_thread(0, run_ms / 20, 0, 0, 0.02); // lives 20 ms
        const TimeAccount account = account_of(made);
        const bool is_short = run_ms < 8;
        CHECK(seconds_of(account, TimeClass::short_lived) == Approx(is_short ? 0.02 : 0));
        CHECK(seconds_of(account, TimeClass::unknown) == Approx(is_short ? 0 : 0.02));
        CHECK(account.imbalance_s() == Approx(0).margin(1e-9));
        if (is_short)
            CHECK(account.lines.at(0).places.at(0).frame.function == "expr");
    }
}

TEST_CASE("a long wait that nobody looked at is unknown, however little its process ran") {
    SyntheticRun made = program(10);
    made.run.hosts[0].sample_period_ns = 4'000'000;
    made.add_process("sleep");
    made.add_thread(0, 0.005, 0, 0, 0.6); // 3 ms on a CPU
    const TimeAccount account = account_of(made);
    CHECK(seconds_of(account, TimeClass::short_lived) == Approx(0.003));
    CHECK(seconds_of(account, TimeClass::unknown) == Approx(0.597));
}
