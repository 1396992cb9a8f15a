// Waits too short to be looked at: what the records of switches know beyond the looks is moved to where short waits were seen.
#include "analyses/time/short_waits.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::SyntheticRun;

namespace {

constexpr uint64_t kMillisecond = 1'000'000, kSecond = 1'000'000'000;

// One thread of a run of 10 s, blocked for 4 s of it: `short_s` of them in waits of 50 us, the others in waits of 0.2 s. The looks
// took it for running during 9 s.
SyntheticRun run_with(double short_s) {
    SyntheticRun made(10, 4);
    made.add_thread(0, 0.6, 0);
    model::Thread& thread = made.run.processes.back().threads[0];
    thread.wall_running_ns = 9 * kSecond;
    thread.switches = {.first_ns = thread.start_ns, .last_ns = thread.end_ns, .on_ns = 6 * kSecond, .blocked_ns = 4 * kSecond};
    thread.switches.blocked_times_ns[1] = SyntheticRun::ns(short_s);
    thread.switches.blocked_times_ns[5] = SyntheticRun::ns(4 - short_s);
    return made;
}

// 1 s of it, seen in `looks` looks at `waits` different waits.
void add_site(SyntheticRun& made, uint64_t looks, uint64_t waits, uint64_t wall_ns) {
    model::BlockedSite& site = made.run.processes.back().blocked.emplace_back();
    site.time_ns = kSecond;
    site.looks = looks;
    site.waits = waits;
    site.wall_ns = wall_ns;
    site.alone_ns = wall_ns / 2;
}

const model::Thread& thread_of(const SyntheticRun& made) { return made.run.processes.back().threads[0]; }
const model::BlockedSite& site_of(const SyntheticRun& made) { return made.run.processes.back().blocked[0]; }

} // namespace

TEST_CASE("what looks missed of short waits is moved to where they saw some") {
    SyntheticRun made = run_with(3.9);
    add_site(made, 10, 10, kSecond);
    restore_short_waits(made.run);
    CHECK(site_of(made).wall_ns == Approx(4 * kSecond).epsilon(1e-6));
    CHECK(site_of(made).alone_ns == Approx(2 * kSecond).epsilon(1e-6));
    CHECK(thread_of(made).wall_running_ns == Approx(6 * kSecond).epsilon(1e-6));
    CHECK(thread_of(made).wall_unseen_ns == 0);
}

TEST_CASE("no more is moved than short waits took") {
    SyntheticRun made = run_with(0.5);
    add_site(made, 10, 10, kSecond);
    restore_short_waits(made.run);
    CHECK(site_of(made).wall_ns == Approx(1.5 * kSecond).epsilon(1e-6));
    CHECK(thread_of(made).wall_running_ns == Approx(8.5 * kSecond).epsilon(1e-6));
}

TEST_CASE("a place of long waits gets nothing, and what nobody saw is unseen") {
    SyntheticRun made = run_with(3.9);
    add_site(made, 10, 2, kSecond);
    restore_short_waits(made.run);
    CHECK(site_of(made).wall_ns == kSecond);
    CHECK(thread_of(made).wall_running_ns == 9 * kSecond);
    CHECK(thread_of(made).wall_unseen_ns == Approx(3 * kSecond).epsilon(1e-6));
    CHECK(thread_of(made).wall_on_cpu_ns() == Approx(6 * kSecond).epsilon(1e-6));
}

TEST_CASE("what the run did not depend on stays off its wall time") {
    SyntheticRun made = run_with(3.9);
    made.run.processes.back().threads[0].wall_running_ns = 2 * kSecond;
    add_site(made, 10, 10, kSecond / 4); // in three of four looks something else was waited for
    made.add_thread(1, 1, 0).wall_running_ns = 7 * kSecond + kSecond * 3 / 4;
    restore_short_waits(made.run);
    // It seemed to run for 9 s, of which the run depended on 2: so it is with the 3 s that were missed.
    CHECK(thread_of(made).wall_running_ns == Approx(2e9 - 3e9 * 2 / 9).epsilon(1e-6));
    CHECK(site_of(made).wall_ns == Approx(kSecond / 4 + 3e9 * 2 / 9).epsilon(1e-6));
}

TEST_CASE("where switches are not known, or looks saw it all, nothing is moved") {
    SyntheticRun made = run_with(3.9);
    add_site(made, 10, 10, kSecond);
    SECTION("stopped") { made.run.processes.back().threads[0].switches.stopped = true; }
    SECTION("not recorded") { made.run.processes.back().threads[0].switches = {}; }
    SECTION("all seen") { made.run.processes.back().blocked[0].time_ns = 4 * kSecond + kMillisecond; }
    restore_short_waits(made.run);
    CHECK(site_of(made).wall_ns == kSecond);
    CHECK(thread_of(made).wall_running_ns == 9 * kSecond);
    CHECK(thread_of(made).wall_unseen_ns == 0);
}
