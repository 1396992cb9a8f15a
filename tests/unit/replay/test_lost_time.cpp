// What a job loses to preemptions of its ranks, against losses that are worked out by hand.
#include "replay/noise/lost_time.h"
#include "synthetic_job.h"

#include <catch2/catch.hpp>

using namespace plumb;
using testing::SyntheticJob;
using Kind = model::NoiseTaker::Kind;

namespace {

constexpr double kStep_s = 1e-3, kTaken_s = 20e-3;

const model::MpiNoise& noise_of(const model::Run& run) {
    REQUIRE(run.mpi_jobs.size() == 1);
    return run.mpi_jobs[0].noise;
}

// `preempt(step)` may take a CPU from ranks before they compute.
template <class Preempt> void steps(SyntheticJob& job, int count, const Preempt& preempt) {
    for (int step = 0; step < count; ++step) {
        preempt(step);
        job.compute_all(kStep_s);
        job.allreduce();
    }
}

} // namespace

TEST_CASE("all ranks lose what a daemon takes from one of them, and the daemon is named by its CPU time") {
    SyntheticJob job(4);
    steps(job, 1000, [&](int step) {
        if (step % 100 == 50)
            job.preempt(2, kTaken_s, 2);
    });
    job.other_program(0, 77, "pollerd", 2, 0, 1.2, 10 * kTaken_s);
    job.other_program(0, 78, "idled", 1, 0, 1.2, 0.5);
    const model::Run run = job.replay();
    const model::MpiNoise& noise = noise_of(run);
    REQUIRE(noise.replayed);
    CHECK(noise.lost_s == Approx(10 * kTaken_s).epsilon(0.001));
    REQUIRE(noise.takers.size() == 1);
    CHECK(noise.takers[0].kind == Kind::programs);
    CHECK(noise.takers[0].names == std::vector<std::string>{"pollerd"});
    CHECK(noise.takers[0].pids == std::vector<uint32_t>{77});
    CHECK(noise.takers[0].cpus == std::vector<int>{2});
    CHECK(noise.takers[0].preemptions == 10);
    CHECK(noise.takers[0].lost_s == Approx(10 * kTaken_s).epsilon(0.001));
    CHECK(noise.takers[0].losses.losses.size() == 10);
}

TEST_CASE("whoever accounts for too little of the lost time is not named") {
    SyntheticJob job(2);
    steps(job, 200, [&](int step) {
        if (step % 20 == 10)
            job.preempt(1, kTaken_s, 1);
    });
    job.other_program(0, 77, "small", 1, 0, 0.4, 2 * kTaken_s); // of ten times
    const model::Run run = job.replay();
    const model::MpiNoise& noise = noise_of(run);
    REQUIRE(noise.takers.size() == 1);
    CHECK(noise.takers[0].kind == Kind::unknown);
    CHECK(noise.takers[0].lost_s > 9 * kTaken_s);
    CHECK(noise.lost_s == 0);
}

TEST_CASE("what a rank would have waited anyway costs nothing, and what sticks out costs that") {
    SyntheticJob job(3);
    for (int step = 0; step < 100; ++step) {
        job.compute(0, 15e-3);
        if (step % 10 == 5)
            job.preempt(1, step < 50 ? 10e-3 : kTaken_s, 1);
        job.compute(1, kStep_s);
        job.compute(2, kStep_s);
        job.allreduce();
    }
    job.other_program(0, 77, "pollerd", 1, 0, 2, 5 * 10e-3 + 5 * kTaken_s);
    const model::Run run = job.replay();
    CHECK(noise_of(run).lost_s == Approx(5 * 6e-3).epsilon(0.001));
}

TEST_CASE("ranks that lose their CPUs in the same step delay it once; two takers are kept apart") {
    SyntheticJob job(4);
    steps(job, 300, [&](int step) {
        if (step % 30 == 0) {
            job.preempt(0, kTaken_s, 0);
            job.preempt(1, kTaken_s, 1);
        }
        if (step % 30 == 10)
            job.preempt(3, 2 * kTaken_s, 3);
    });
    job.other_program(0, 77, "pollerd", 0, 0, 2, 10 * kTaken_s);
    job.other_program(0, 78, "pollerd", 1, 0, 2, 10 * kTaken_s);
    job.other_program(0, 79, "backupd", 3, 0, 2, 20 * kTaken_s);
    const model::Run run = job.replay();
    const model::MpiNoise& noise = noise_of(run);
    CHECK(noise.lost_s == Approx(30 * kTaken_s).epsilon(0.001));
    REQUIRE(noise.takers.size() == 2);
    CHECK(noise.takers[0].names == std::vector<std::string>{"backupd"});
    CHECK(noise.takers[0].lost_s == Approx(20 * kTaken_s).epsilon(0.001));
    CHECK(noise.takers[1].names == std::vector<std::string>{"pollerd"});
    CHECK(noise.takers[1].lost_s == Approx(10 * kTaken_s).epsilon(0.001));
}

TEST_CASE("a delay that a message passes on is the noise of the rank that sent it") {
    SyntheticJob job(2);
    for (int step = 0; step < 100; ++step) {
        if (step % 10 == 5)
            job.preempt(0, kTaken_s, 0);
        job.compute(0, kStep_s);
        job.message(0, 1, 8, 1e-6);
        job.compute(1, kStep_s); // only behind the message
        job.allreduce();
    }
    job.other_program(0, 77, "pollerd", 0, 0, 1, 10 * kTaken_s);
    const model::Run run = job.replay();
    CHECK(noise_of(run).lost_s == Approx(10 * kTaken_s).epsilon(0.01));
}

TEST_CASE("a rank that has more to do is no noise, nor is one that shares its CPU with another rank") {
    SyntheticJob job(4);
    steps(job, 200, [&](int step) {
        job.compute(1, 2e-3);
        if (step % 10 == 0)
            job.preempt(3, 5e-3, 0, 100); // rank 0 has its CPU
    });
    const model::Run run = job.replay();
    const model::MpiNoise& noise = noise_of(run);
    CHECK(noise.lost_s == 0);
    REQUIRE(noise.takers.size() == 1);
    CHECK(noise.takers[0].kind == Kind::peer);
    CHECK(noise.takers[0].lost_s == Approx(20 * 3e-3).epsilon(0.01));
}

TEST_CASE("interruptions of different ranks add up within a group of steps, and are waited for once") {
    SyntheticJob job(4);
    steps(job, 400, [&](int step) { job.preempt(step % 4, 1e-3, step % 4); });
    for (int cpu = 0; cpu < 4; ++cpu)
        job.other_program(0, 70 + static_cast<uint32_t>(cpu), "ticker", cpu, 0, 1, 0.1);
    const model::Run run = job.replay();
    const model::MpiNoise& noise = noise_of(run);
    CHECK(noise.lost_s == Approx(0.4).epsilon(0.01));
    REQUIRE(noise.groupings.size() == 4);
    CHECK(noise.groupings[0].joints == 2);
    CHECK(noise.groupings[0].lost_s == Approx(0.2).epsilon(0.01));
    CHECK(noise.groupings[1].lost_s == Approx(0.1).epsilon(0.01));
    CHECK(noise.groupings[2].lost_s == Approx(0.1).epsilon(0.01)); // each rank has two of eight
}

TEST_CASE("what is lost does not depend on how many threads look for it") {
    const auto lost = [](unsigned threads) {
        SyntheticJob job(5);
        steps(job, 300, [&](int step) {
            if (step % 7 == 0)
                job.preempt(step % 5, kTaken_s, step % 5);
        });
        job.other_program(0, 77, "pollerd", 1, 0, 2, 1);
        const model::Run run = job.replay(threads);
        return std::pair(noise_of(run).lost_s, noise_of(run).takers.size());
    };
    CHECK(lost(1) == lost(3));
}
