// The steps of a job, and its noise, each apart.
#include "synthetic_job.h"

#include <catch2/catch.hpp>

using namespace plumb;
using testing::SyntheticJob;

namespace {

constexpr double kStep_s = 1e-3, kTaken_s = 20e-3, kOperation_s = 50e-6;

const model::MpiSteps& steps_of(const model::Run& run) {
    REQUIRE(run.mpi_jobs.size() == 1);
    return run.mpi_jobs[0].steps;
}

} // namespace

TEST_CASE("the steps of a job are its work without the noise, and its waiting as it was") {
    SyntheticJob job(4, [](int rank) { return rank % 2; });
    for (int step = 0; step < 200; ++step) {
        if (step % 20 == 5)
            job.preempt(3, kTaken_s, 1);
        if (step % 20 == 10)
            job.preempt(2, kTaken_s, 1, 100); // a rank has it: that is no noise
        for (int rank = 0; rank < 4; ++rank)
            job.compute(rank, kStep_s * (1 + rank));
        job.allreduce(kOperation_s);
    }
    job.other_program(3, 77, "pollerd", 1, 0, 2, 10 * kTaken_s);
    const model::Run run = job.replay(2, true);
    const model::MpiSteps& steps = steps_of(run);
    REQUIRE(steps.ranks == 4);
    CHECK(steps.ranks_on == std::vector<uint32_t>{2, 2}); // columns: ranks 0, 2, 1, 3
    CHECK(steps.steps == 199);
    CHECK(steps.all_steps == 199);
    CHECK(steps.operation_s == Approx(kOperation_s).epsilon(0.01));
    for (size_t step = 0; step < steps.steps; ++step) {
        const bool has_peer = (step + 1) % 20 == 10;
        const double work_s[4] = {kStep_s, 3 * kStep_s + (has_peer ? kTaken_s : 0), 2 * kStep_s, 4 * kStep_s};
        for (size_t column = 0; column < 4; ++column)
            CHECK(static_cast<double>(steps.work_s[step * 4 + column]) == Approx(work_s[column] + kOperation_s).epsilon(0.01));
    }
    // Each step waits for rank 3, or for rank 2 where that one lost its CPU.
    const double waited_s = 199 * kStep_s * (3 + 2 + 1) / 4 + 10 * kTaken_s * 3 / 4 + 10 * (kTaken_s * 3 - 4 * kStep_s) / 4;
    CHECK(steps.waited_s == Approx(waited_s).epsilon(0.01));
    CHECK(steps.elapsed_s == Approx(199 * (4 * kStep_s + kOperation_s) + 10 * kTaken_s + 10 * (kTaken_s - kStep_s)).epsilon(0.01));
    REQUIRE(steps.takers.size() == 1);
    CHECK(steps.takers[0].names == std::vector<std::string>{"pollerd"});
    REQUIRE(steps.takers[0].losses.losses.size() == 10);
    CHECK(steps.takers[0].losses.losses[0].node == 1);
    CHECK(steps.takers[0].losses.losses[0].cpu == 1); // the second rank of its host
    CHECK(steps.taken_s == Approx(10 * kTaken_s));
    CHECK(steps.other_taken_s == Approx(10 * kTaken_s));
}

TEST_CASE("a rank that waits for a message does no work meanwhile: it waits for the noise of the one that sends it") {
    SyntheticJob job(2);
    for (int step = 0; step < 100; ++step) {
        if (step % 10 == 5)
            job.preempt(0, kTaken_s, 0);
        job.compute_all(kStep_s);
        job.message(0, 1, 8, 0);
        job.compute_all(kStep_s);
        job.allreduce();
    }
    job.other_program(0, 77, "pollerd", 0, 0, 2, 10 * kTaken_s);
    const model::Run run = job.replay(1, true);
    const model::MpiSteps& steps = steps_of(run);
    REQUIRE(steps.steps == 99);
    for (const float work_s : steps.work_s)
        CHECK(static_cast<double>(work_s) == Approx(2 * kStep_s).epsilon(0.001));
    CHECK(steps.waited_s == Approx(10 * kTaken_s / 2).epsilon(0.001)); // rank 1 does
    CHECK(steps.waited_before_s == Approx(steps.waited_s));
    CHECK(steps.elapsed_s == Approx(99 * 2 * kStep_s + 10 * kTaken_s).epsilon(0.001));
}

TEST_CASE("steps are known only where they were asked for, and the job has collectives of all ranks") {
    SyntheticJob quiet(2);
    for (int step = 0; step < 5; ++step) {
        quiet.compute_all(kStep_s);
        quiet.allreduce();
    }
    CHECK(steps_of(quiet.replay()).ranks == 0);

    SyntheticJob alone(3);
    for (int step = 0; step < 5; ++step) {
        alone.compute_all(kStep_s);
        alone.allreduce(0, {0, 1});
        alone.message(1, 2, 8, 0);
    }
    CHECK(steps_of(alone.replay(1, true)).ranks == 0);
}
