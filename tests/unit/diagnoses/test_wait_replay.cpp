// What bounds the gain of a wait that goes away: what each thread does by itself, on made-up runs.
#include "diagnoses/wait/wait_replay.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kLog = 0x400100, kSleep = 0x7f0000001000;

// One of two threads runs 4 s of 10 and sleeps the rest, of which the run's wall time depended on `wall_s`.
double own_s_of_sleeper(double wall_s, uint32_t sleeper = 1) {
    SyntheticRun made(10, 4);
    made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f0000000000, 0x7f0000010000);
    made.name(kLog, "keep_log", "app", "/src/app.c", 10);
    made.name(kSleep, "clock_nanosleep+0x23", "libc.so.6");
    made.add_thread(0, sleeper == 0 ? 0.4 : 0.9, 0).wall_running_ns = SyntheticRun::ns(10 - wall_s);
    made.add_thread(1, sleeper == 1 ? 0.4 : 0.9, 0);
    model::BlockedSite site;
    site.thread = sleeper;
    site.path = made.add_path({kLog, kSleep});
    site.system_call = SYS_clock_nanosleep;
    site.looks = site.waits = 100;
    site.time_ns = SyntheticRun::ns(6);
    site.wall_ns = SyntheticRun::ns(wall_s);
    made.run.processes.back().blocked.push_back(site);
    made.finish();
    model::CallPaths paths(made.run, made.resolver);
    return WaitReplay(paths).own_s({0, sleeper});
}

} // namespace

TEST_CASE("sleeps that nobody waited for bound no gain; those that the run depended on do") {
    CHECK(own_s_of_sleeper(0) == Approx(4).epsilon(0.01));
    CHECK(own_s_of_sleeper(6) == Approx(10).epsilon(0.01));
    CHECK(own_s_of_sleeper(0, 0) == Approx(10).epsilon(0.01)); // the first thread's: the run lasts as long as it does
}
