// Noise of MPI jobs: planted daemons and helper threads, and jobs that wait for other reasons.
#include "diagnosed_job.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace plumb;
using plumb::testing::Diagnosed;
using plumb::testing::SyntheticJob;

namespace {

constexpr double kStep_s = 1e-3, kBusy_s = 20e-3, kPeriod_s = 0.5;

// Steps of a millisecond that scatter a little, until `until_s`; `more(job, step)` adds to them.
template <class More> SyntheticJob steps(int ranks, double until_s, const More& more) {
    SyntheticJob job(ranks);
    std::minstd_rand random(11);
    std::uniform_real_distribution<double> scatter_s(0, 0.05 * kStep_s);
    for (int step = 0; job.now(0) < until_s; ++step) {
        more(job, step);
        for (int rank = 0; rank < ranks; ++rank)
            job.compute(rank, kStep_s + scatter_s(random));
        job.allreduce(1e-5);
    }
    return job;
}

// A daemon on the CPU of `rank`, which has the CPU in turns with it.
SyntheticJob with_daemon(int ranks, int rank, const char* name = "pollerd", double busy_s = kBusy_s) {
    double next_s = 0.1, used_s = 0;
    SyntheticJob job = steps(ranks, 10, [&](SyntheticJob& made, int) {
        if (made.now(rank) < next_s)
            return;
        for (double rest_s = busy_s; rest_s > 1e-9; rest_s -= 4e-3) {
            made.preempt(rank, std::min(4e-3, rest_s), rank);
            made.compute(rank, rest_s > 4e-3 ? 0.5e-3 : 0);
        }
        next_s += kPeriod_s;
        used_s += busy_s;
    });
    job.other_program(0, 77, name, rank, 0, 10, used_s);
    return job;
}

// Programs on the CPU of one rank, each busy now and then, looked at once a second.
struct Neighbour {
    const char* name;
    uint32_t pid;
    double first_s, period_s, busy_s;
};

SyntheticJob with_neighbours(int rank, const std::vector<Neighbour>& neighbours) {
    std::vector<double> next_s, used_s(neighbours.size(), 0), counted_s(neighbours.size(), 0);
    for (const Neighbour& one : neighbours)
        next_s.push_back(one.first_s);
    double look_s = 0;
    return steps(4, 12, [&](SyntheticJob& made, int) {
        if (made.now(rank) >= look_s + 1) {
            for (size_t i = 0; i < neighbours.size(); ++i) {
                const Neighbour& one = neighbours[i];
                const double ticks_s = std::floor(used_s[i] * 100) / 100;
                if (ticks_s > counted_s[i])
                    made.other_program(rank, one.pid, one.name, rank, look_s, made.now(rank), ticks_s - counted_s[i]);
                counted_s[i] = ticks_s;
            }
            look_s = made.now(rank);
        }
        for (size_t i = 0; i < neighbours.size(); ++i)
            if (made.now(rank) >= next_s[i]) {
                made.preempt(rank, neighbours[i].busy_s, rank);
                next_s[i] += neighbours[i].period_s;
                used_s[i] += neighbours[i].busy_s;
                return;
            }
    });
}

double of(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

} // namespace

TEST_CASE("a daemon that takes a rank's CPU now and then is named, with its period, its length and what it costs") {
    SyntheticJob job = with_daemon(4, 2);
    Diagnosed made(job);
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.subject.kind == "daemon");
    CHECK(finding.subject.name == "pollerd");
    CHECK(of(finding, "class_period_ms") == Approx(500).epsilon(0.05));
    CHECK(of(finding, "class_duration_ms") == Approx(20).epsilon(0.05));
    CHECK(finding.cost.fraction == Approx(20 * kBusy_s / 10).epsilon(0.1));
    CHECK(finding.severity == Severity::medium);
    CHECK(finding.title.find("pollerd takes CPU 2") == 0);
    CHECK(made.findings("mpi-late-rank").empty());
    CHECK(made.findings("spare-cpu").empty()); // 4 % of the run, a quarter of its CPUs
}

TEST_CASE("a daemon that drives a rank to the CPU of another one also costs the turns that they take there") {
    constexpr double kSlices_s = 28e-3, kTurns_s = 12e-3;
    double next_s = 0.1, used_s = 0;
    SyntheticJob job = steps(2, 10, [&](SyntheticJob& made, int) {
        if (made.now(1) < next_s)
            return;
        for (int slice = 0; slice < 7; ++slice) {
            made.preempt(1, kSlices_s / 7, 1);
            made.compute(1, slice < 6 ? 0.1e-3 : 0);
        }
        for (int turn = 0; turn < 3; ++turn) {
            made.preempt(1, kTurns_s / 3, 0, 100); // rank 0 waits for it there, and takes the CPU for it
            made.compute(1, 0.1e-3);
        }
        next_s += kPeriod_s;
        used_s += kSlices_s + kTurns_s;
    });
    job.other_program(0, 77, "pollerd", 1, 0, 10, used_s);
    Diagnosed made(job);
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 1);
    CHECK(of(findings[0], "class_duration_ms") == Approx(1e3 * (kSlices_s + kTurns_s)).epsilon(0.01));
    CHECK(of(findings[0], "displaced_thread_seconds") == Approx(20 * kTurns_s).epsilon(0.01));
    CHECK(of(findings[0], "taken_thread_seconds") == Approx(20 * kSlices_s).epsilon(0.01));
    CHECK(findings[0].cost.seconds == Approx(20 * (kSlices_s + kTurns_s)).epsilon(0.03));
}

TEST_CASE("a daemon that drives a rank away now and then is as long as where it does not") {
    double next_s = 0.1, used_s = 0;
    int count = 0;
    SyntheticJob job = steps(2, 10, [&](SyntheticJob& made, int) {
        if (made.now(1) < next_s)
            return;
        const int slices = ++count % 3 == 0 ? 3 : 5; // every third time the rank is moved behind the third one
        for (int slice = 0; slice < slices; ++slice) {
            made.preempt(1, 4e-3, 1);
            made.compute(1, 0.1e-3);
        }
        if (slices == 3)
            made.preempt(1, 4e-3, 0, 100);
        next_s += kPeriod_s;
        used_s += 20e-3;
    });
    job.other_program(0, 77, "pollerd", 1, 0, 10, used_s + 0.1); // some of it where there was no rank
    Diagnosed made(job);
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 1);
    CHECK(of(findings[0], "class_duration_ms") == Approx(20).epsilon(0.01));
}

TEST_CASE("two daemons on one CPU are two findings, each with its own period and length") {
    SyntheticJob job = with_neighbours(2, {{"pollerd", 77, 0.1, 0.5, 20e-3}, {"backupd", 78, 0.23, 0.31, 7e-3}});
    Diagnosed made(job);
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 2);
    CHECK(findings[0].subject.name == "pollerd");
    CHECK(of(findings[0], "class_period_ms") == Approx(500).epsilon(0.05));
    CHECK(of(findings[0], "class_duration_ms") == Approx(20).epsilon(0.05));
    CHECK(of(findings[0], "taken_thread_seconds") <= of(findings[0], "programs_cpu_seconds") + 0.02);
    CHECK(findings[1].subject.name == "backupd");
    CHECK(of(findings[1], "class_period_ms") == Approx(310).epsilon(0.05));
    CHECK(of(findings[1], "class_duration_ms") == Approx(7).epsilon(0.05));
}

TEST_CASE("daemons that no look can distinguish are one finding") {
    SyntheticJob job = with_neighbours(2, {{"pollerd", 77, 0.1, 0.5, 20e-3}, {"backupd", 78, 0.35, 0.5, 20e-3}});
    Diagnosed made(job);
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find(" and ") != std::string::npos);
    CHECK(of(findings[0], "taken_thread_seconds") == Approx(24 * 40e-3).epsilon(0.05));
}

TEST_CASE("no noise is seen in jobs that wait for their own work, nor in quiet ones") {
    SECTION("quiet") {
        SyntheticJob job = steps(4, 5, [](SyntheticJob&, int) {});
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
    SECTION("one rank has more to do") {
        SyntheticJob job = steps(4, 5, [](SyntheticJob& made, int) { made.compute(1, 0.3e-3); });
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
    SECTION("one rank has more to do now and then") {
        SyntheticJob job = steps(4, 5, [](SyntheticJob& made, int step) { made.compute(1, step % 100 ? 0 : 20e-3); });
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
    SECTION("ranks share a CPU") {
        SyntheticJob job = steps(2, 5, [](SyntheticJob& made, int step) { made.preempt(step % 2, 1e-3, 0, step % 2 ? 100 : 101); });
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
    SECTION("another program has half of a CPU: that is no noise, the CPU is shared") {
        SyntheticJob job = steps(2, 5, [](SyntheticJob& made, int) { made.preempt(1, 1e-3, 1); });
        job.other_program(0, 77, "solver2", 1, 0, 5, 2.5);
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
    SECTION("who takes the CPU is not known") {
        SyntheticJob job = steps(2, 5, [](SyntheticJob& made, int step) {
            if (step % 100 == 0)
                made.preempt(1, 20e-3, 1);
        });
        CHECK(Diagnosed(job).findings("os-noise").empty());
    }
}

TEST_CASE("short steps multiply noise: with fewer collectives it costs less") {
    SyntheticJob job = steps(8, 5, [](SyntheticJob& made, int step) { made.preempt(step % 8, 0.2e-3, step % 8); });
    for (int cpu = 0; cpu < 8; ++cpu)
        job.other_program(0, 70 + static_cast<uint32_t>(cpu), "ticker", cpu, 0, 5, 0.12);
    Diagnosed made(job);
    CHECK(made.findings("os-noise").size() == 1);
    const std::vector<Finding> findings = made.findings("noise-resonance");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.kind() == Gain::Kind::upper_bound);
    CHECK(of(findings[0], "amplification_ratio") > 5);

    SyntheticJob rare = with_daemon(4, 2); // one rank's long events: as long with fewer collectives
    CHECK(Diagnosed(rare).findings("noise-resonance").empty());
}

TEST_CASE("a CPU for the system is worth it where noise costs more than that CPU") {
    const auto noisy = [](int ranks, double taken_s) {
        SyntheticJob job = steps(ranks, 5, [&](SyntheticJob& made, int step) {
            made.preempt(step % ranks, taken_s, step % ranks);
        });
        for (int cpu = 0; cpu < ranks; ++cpu)
            job.other_program(0, 70 + static_cast<uint32_t>(cpu), "ticker", cpu, 0, 5, 5 * taken_s / (kStep_s + taken_s) / ranks);
        return job;
    };
    for (const bool is_worth_it : {true, false}) {
        SyntheticJob job = noisy(8, is_worth_it ? 0.4e-3 : 0.1e-3);
        Diagnosed made(job);
        made.run.hosts.at(0).cpu_count = 8;
        const std::vector<Finding> findings = made.findings("spare-cpu");
        REQUIRE(findings.size() == is_worth_it);
        if (is_worth_it) { // of 1.43 ms a step 0.38 are noise; the rest takes 8/7 as long
            CHECK(findings[0].gain.fraction == Approx(1 - 8.0 / 7 * 1.05 / 1.43).margin(0.02));
            CHECK(findings[0].gain.certain() == 0);
        }
        made.run.hosts.at(0).cpu_count = 9; // it is left already
        CHECK(made.findings("spare-cpu").empty());
    }
}

TEST_CASE("what the hypervisor takes is a bound") {
    SyntheticJob job = steps(2, 5, [](SyntheticJob& made, int step) { made.compute(step % 2, step % 20 ? 0 : 5e-3); });
    Diagnosed made(job);
    const uint64_t begin_ns = made.run.begin_ns;
    for (model::Process& process : made.run.processes)
        process.threads.at(0).intervals.push_back({begin_ns, begin_ns + 5'000'000'000, process.rank, 5'000'000'000, 0, 0, 'R'});
    for (int cpu = 0; cpu < 2; ++cpu)
        made.run.hosts.at(0).cpu_intervals.push_back(
            {.cpu = cpu, .begin_ns = begin_ns, .end_ns = begin_ns + 5'000'000'000, .steal_ns = 200'000'000});
    const std::vector<Finding> findings = made.findings("os-noise");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "hypervisor");
    CHECK(findings[0].gain.kind() == Gain::Kind::upper_bound);
    CHECK(findings[0].cost.seconds <= 0.4 + 1e-9);
    CHECK(of(findings[0], "stolen_fraction") == Approx(0.04).epsilon(0.05));
}
