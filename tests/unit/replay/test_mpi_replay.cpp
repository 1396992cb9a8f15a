// Jobs of known truth: the replay must find who waited for whom, and why.
#include "replay/charges.h"
#include "replay/collectives/epochs.h"
#include "replay/events/off_cpu.h"
#include "synthetic_job.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace plumb;
using plumb::testing::SyntheticJob;

namespace {

const model::MpiJob& only_job(const model::Run& run) {
    REQUIRE(run.mpi_jobs.size() == 1);
    return run.mpi_jobs[0];
}

const model::MpiCallSite& site_of(const model::MpiJob& job, const std::string& call) {
    const auto found = std::ranges::find(job.sites, call, &model::MpiCallSite::call);
    REQUIRE(found != job.sites.end());
    return *found;
}

// Four ranks, 100 steps of 10 ms; rank 2 works 4 ms longer. Operations take 1 ms.
SyntheticJob late_rank(int size = 4) {
    SyntheticJob job(size);
    for (int step = 0; step < 100; ++step) {
        job.compute_all(0.010);
        job.compute(2, 0.004);
        job.allreduce(0.001);
    }
    return job;
}

} // namespace

TEST_CASE("time in collectives splits into waiting for the last and the operation itself") {
    SyntheticJob made = late_rank();
    const model::Run run = made.replay();
    const model::MpiJob& job = only_job(run);
    CHECK(job.size == 4);
    CHECK(job.epochs == 100);
    CHECK(job.incomplete_epochs == 0);
    CHECK(job.elapsed_s == Approx(1.5));
    REQUIRE(job.ranks.size() == 4);
    for (const model::MpiRankRow& row : job.ranks) {
        CHECK(row.collective_wait_s == Approx(row.rank == 2 ? 0 : 0.4).margin(1e-6));
        CHECK(row.collective_s == Approx(0.1));
        CHECK(row.compute_s == Approx(row.rank == 2 ? 1.4 : 1.0));
        CHECK(row.collectives == 100);
    }
    const model::MpiCallSite& site = site_of(job, "MPI_Allreduce");
    CHECK(site.ranks == 4);
    CHECK(site.calls == 400);
    CHECK(site.wait_s == Approx(1.2));
    CHECK(site.operation_s == Approx(0.4));
    CHECK(site.most_rank_s == Approx(0.5));
    CHECK(job.wait_s == Approx(1.2));
    CHECK(job.imbalance_s == Approx(0.3)); // the mean rank is 3 ms early
}

TEST_CASE("the last rank is charged with what the others wait, and with what the job would gain") {
    SyntheticJob made = late_rank();
    const model::Run run = made.replay();
    const model::MpiRankRow& late = only_job(run).ranks[2];
    CHECK(late.times_last == 100);
    CHECK(late.caused_wait_s == Approx(1.2));
    CHECK(late.gain_s == Approx(0.4));
    CHECK(late.lateness_s == Approx(0.4));
    CHECK(late.lateness.computing_s == Approx(0.4).epsilon(0.05));
    CHECK(late.lateness.waiting_s == 0);
    CHECK(only_job(run).ranks[1].gain_s == 0);
    CHECK(only_job(run).ranks[1].times_last == 0);
}

TEST_CASE("the gain is what the cured job measures") {
    SyntheticJob slow = late_rank(8), cured(8);
    for (int step = 0; step < 100; ++step) {
        cured.compute_all(0.010);
        cured.allreduce(0.001);
    }
    const double measured_s = only_job(slow.replay()).elapsed_s - only_job(cured.replay()).elapsed_s;
    const model::Run run = slow.replay();
    CHECK(only_job(run).ranks[2].gain_s == Approx(measured_s).epsilon(0.02));
}

TEST_CASE("a late rank's neighbours wait for its messages: the gain is still what the cured job measures") {
    const auto run = [](double extra_s) {
        SyntheticJob made(6);
        for (int step = 0; step < 100; ++step) {
            made.compute_all(0.010);
            made.compute(2, extra_s);
            for (int rank = 0; rank < 6; ++rank)
                made.message(rank, (rank + 1) % 6, 800, 0.00001);
            made.compute_all(0.001);
            made.allreduce(0.0001);
        }
        return made.replay();
    };
    const model::Run slow = run(0.004), cured = run(0);
    const double measured_s = only_job(slow).elapsed_s - only_job(cured).elapsed_s;
    CHECK(only_job(slow).ranks[2].gain_s == Approx(measured_s).epsilon(0.05));
    CHECK(only_job(slow).ranks[2].lateness.computing_s > 0.3);
    CHECK(only_job(slow).ranks[3].gain_s < 0.1 * measured_s);
}

TEST_CASE("a rank late to a reduction holds up its root alone, and still the whole job") {
    const auto run = [](double extra_s) {
        SyntheticJob made(8);
        for (int step = 0; step < 40; ++step) {
            made.compute_all(0.005);
            made.compute(3, extra_s);
            made.reduce(0, 0.00001);
        }
        made.allreduce();
        return made.replay();
    };
    const model::Run slow = run(0.020), cured = run(0);
    const double measured_s = only_job(slow).elapsed_s - only_job(cured).elapsed_s;
    CHECK(only_job(slow).ranks[3].gain_s == Approx(measured_s).epsilon(0.05));
    CHECK(only_job(slow).ranks[0].gain_s < 0.05 * measured_s);
    // The root comes last to the end, because it waited for rank 3 in 40 reductions.
    const model::MpiRankRow& root = only_job(slow).ranks[0];
    CHECK(root.times_last == 1);
    CHECK(root.lateness.waiting_s == Approx(root.lateness_s).epsilon(0.05));
    CHECK(root.delayed_by == 3);
}

TEST_CASE("a delay is followed through a send that waited for its receiver") {
    SyntheticJob made(4);
    for (int step = 0; step < 20; ++step) {
        made.compute_all(0.010);
        made.compute(1, 0.020);
        made.message(2, 1, 1 << 20, 0.00001, true); // 2 waits for 1 to receive
        made.compute(2, 0.001);
        made.allreduce();
    }
    const model::Run run = made.replay();
    const model::MpiRankRow& last = only_job(run).ranks[2];
    CHECK(last.times_last == 20);
    CHECK(last.delayed_by == 1);
    CHECK(last.lateness.waiting_s == Approx(0.4).epsilon(0.1));
    CHECK(only_job(run).ranks[1].caused_message_wait_s == Approx(0.4));
    CHECK(only_job(run).ranks[1].gain_s == Approx(0.4).epsilon(0.1));
}

TEST_CASE("what a thread did not run for is either a wait for a CPU or sleep") {
    model::Run run;
    run.begin_ns = 1'000'000;
    model::Process process;
    model::Thread& thread = process.threads.emplace_back();
    for (uint64_t i = 0; i < 10; ++i) // of each 10 ms: 4 running, 1 without a CPU, 5 asleep
        thread.intervals.push_back({.begin_ns = run.begin_ns + i * 10'000'000, .end_ns = run.begin_ns + (i + 1) * 10'000'000,
                                    .cpu = 0, .run_ns = 4'000'000, .run_delay_ns = 1'000'000, .migrations = 0, .state = 'S'});
    const replay::OffCpu known(run, process, 0);
    CHECK(known.delayed(10'000'000, 30'000'000) == 2'000'000);
    CHECK(known.asleep(10'000'000, 30'000'000) == 10'000'000);
    CHECK(known.asleep(95'000'000, 200'000'000) == 2'500'000);
    CHECK(known.delayed_intervals() == 1);
    CHECK(known.asleep() == 50'000'000);
    // Between MPI_Init and MPI_Finalize: of an interval that lies on both sides, as little as can be.
    process.mpi.emplace();
    process.mpi->init_end_ns = run.begin_ns + 33'000'000;
    process.mpi->finalize_begin_ns = run.begin_ns + 86'000'000;
    const replay::OffCpu inside(run, process, 0);
    CHECK(inside.asleep(0, 33'000'000) == 0);
    CHECK(inside.asleep(33'000'000, 40'000'000) == 2'000'000); // 3 of 5 ms may lie before
    CHECK(inside.asleep(80'000'000, 100'000'000) == 1'000'000); // 4 of 5 ms behind
    CHECK(inside.asleep() == 23'000'000);
    CHECK(inside.delayed() == 4'000'000);
    for (model::ThreadInterval& interval : thread.intervals)
        interval.run_ns = 0; // the kernel keeps no such statistics
    const replay::OffCpu unknown(run, process, 0);
    CHECK(unknown.asleep(0, 100'000'000) == 0);
    CHECK(replay::OffCpu(run, {}, 0).asleep(0, 100'000'000) == 0);
}

TEST_CASE("transfer times that scatter by more than they are tell no latency") {
    const auto fit = [](double scatter_s) {
        SyntheticJob made(2);
        std::minstd_rand random(7);
        std::uniform_real_distribution<double> scatter(0, scatter_s);
        for (int i = 0; i < 400; ++i) {
            made.compute(0, 0.001); // the receiver waits
            made.message(0, 1, 800, (i % 2 ? 0.00002 : 0.00002 + scatter(random)));
        }
        return only_job(made.replay()).within_host;
    };
    CHECK(fit(0.000002).known);
    CHECK(fit(0.000002).latency_s == Approx(0.00002).epsilon(0.2));
    CHECK_FALSE(fit(0.02).known);
}

// Two ranks whose work scatters by up to 0.2 ms in every step, each in its own way; rank 1 has `extra_s` more, and in one step
// of a hundred `spike_s`.
SyntheticJob scattered(double extra_s, double spike_s, uint64_t seed) {
    SyntheticJob made(2);
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed));
    std::uniform_real_distribution<double> scatter_s(0, 0.0002);
    for (int step = 0; step < 4000; ++step) {
        made.compute(0, 0.001 + scatter_s(random));
        made.compute(1, 0.001 + scatter_s(random) + extra_s + (step % 100 == 50 ? spike_s : 0));
        made.allreduce(0.00001);
    }
    return made;
}

TEST_CASE("what chance makes of the ranks' times is no gain") {
    const auto [extra_s, spike_s] = GENERATE(std::pair(0.00008, 0.0), std::pair(0.00002, 0.0), std::pair(0.0, 0.004),
                                             std::pair(0.00005, 0.002));
    CAPTURE(extra_s, spike_s);
    SyntheticJob slow = scattered(extra_s, spike_s, 1), cured = scattered(0, 0, 2);
    const double measured_s = only_job(slow.replay()).elapsed_s - only_job(cured.replay()).elapsed_s;
    const model::Run run = slow.replay();
    CHECK(only_job(run).ranks[1].gain_s == Approx(measured_s).epsilon(0.1));
    CHECK(only_job(run).ranks[0].gain_s < 0.1 * measured_s);
}

TEST_CASE("two ranks alike but for chance are nobody's fault") {
    SyntheticJob made = scattered(0, 0, 3);
    const model::Run run = made.replay();
    for (const model::MpiRankRow& row : only_job(run).ranks) {
        CHECK(row.caused_wait_s > 0.1);
        CHECK(row.gain_s < 0.1 * row.caused_wait_s);
    }
}

TEST_CASE("ranks alike are nobody's fault") {
    SyntheticJob made(4);
    for (int step = 0; step < 50; ++step) {
        made.compute_all(0.010);
        made.allreduce(0.001);
    }
    const model::Run run = made.replay();
    for (const model::MpiRankRow& row : only_job(run).ranks) {
        CHECK(row.gain_s == 0);
        CHECK(row.collective_wait_s == Approx(0).margin(1e-6));
    }
}

TEST_CASE("an extra that comes now and then is distinguished from more work") {
    SyntheticJob made(4);
    for (int step = 0; step < 100; ++step) {
        made.compute_all(0.010);
        if (step % 10 == 5)
            made.compute(1, 0.030);
        made.allreduce();
    }
    const model::Run run = made.replay();
    const model::MpiRankRow& late = only_job(run).ranks[1];
    CHECK(late.times_last == 10);
    CHECK(late.lateness.irregular_s == Approx(0.3));
    CHECK(late.lateness.computing_s == Approx(0).margin(1e-6));
    CHECK(late.gain_s == Approx(0.3));
}

TEST_CASE("waiting for a CPU is what the others do not wait, too") {
    model::Run run;
    replay::Job job;
    for (const uint64_t delay_ns : {300u, 100u, 200u, 900u}) {
        model::Process process;
        process.start_ns = 1000;
        process.end_ns = 2000;
        process.mpi.emplace();
        process.threads.emplace_back().run_delay_ns = delay_ns;
        job.ranks.emplace_back().process = static_cast<uint32_t>(run.processes.size());
        run.processes.push_back(process);
    }
    const std::vector<double> usual = replay::usual_run_delays(run, job);
    REQUIRE(usual.size() == 4);
    CHECK(usual[3] == Approx(0.2)); // of 0.1, 0.2, 0.3
    CHECK(usual[1] == Approx(0.3)); // of 0.2, 0.3, 0.9
    CHECK(usual[0] == Approx(0.2)); // of 0.1, 0.2, 0.9
}

TEST_CASE("broadcast: all wait for the root; reduction: the root waits for all") {
    SyntheticJob broadcast(3);
    for (int step = 0; step < 10; ++step) {
        broadcast.allreduce();
        broadcast.compute(0, 0.005);
        broadcast.bcast(0);
    }
    const model::Run first = broadcast.replay();
    CHECK(site_of(only_job(first), "MPI_Bcast").wait_s == Approx(0.1));
    CHECK(only_job(first).ranks[0].caused_wait_s == Approx(0.1));
    CHECK(only_job(first).ranks[0].collective_wait_s == Approx(0).margin(1e-6));
    SyntheticJob reduction(3);
    for (int step = 0; step < 10; ++step) {
        reduction.allreduce();
        reduction.compute(2, 0.005);
        reduction.reduce(0);
    }
    const model::Run second = reduction.replay();
    const model::MpiCallSite& reduce = site_of(only_job(second), "MPI_Reduce");
    CHECK(reduce.wait_s == Approx(0.05));
    CHECK(only_job(second).ranks[1].collective_wait_s == Approx(0.045)); // at the 9 next allreduces, and at no reduction
    CHECK(only_job(second).ranks[2].caused_wait_s == Approx(0.05)); // the root's; it makes the others wait in turn
    CHECK(only_job(second).ranks[0].caused_wait_s == Approx(0.045));
}

TEST_CASE("sub-communicators are laid side by side by their members") {
    SyntheticJob made(4);
    for (int step = 0; step < 20; ++step) {
        made.compute_all(0.010);
        made.compute(1, 0.002);
        made.allreduce(0, {0, 1});
        made.allreduce(0, {2, 3});
    }
    const model::Run run = made.replay();
    const model::MpiJob& job = only_job(run);
    CHECK(job.epochs == 40);
    CHECK(job.ranks[0].collective_wait_s == Approx(0.04));
    CHECK(job.ranks[2].collective_wait_s == Approx(0).margin(1e-6));
    CHECK(job.ranks[1].gain_s == Approx(0.02)); // half of the ranks gain 40 ms
}

TEST_CASE("late senders, late receivers, and messages that kept nobody waiting") {
    SyntheticJob made(2);
    made.compute(0, 0.020);
    made.message(0, 1, 1000, 0.001);       // 1 waits 20 ms
    made.compute(1, 0.050);
    made.message(0, 1, 1000, 0.001, true); // 0 waits 51 ms
    made.compute(1, 0.010);
    made.message(0, 1, 1000, 0.001);       // lies there already
    const model::Run run = made.replay();
    const model::MpiJob& job = only_job(run);
    CHECK(job.matched_messages == 3);
    CHECK(job.unmatched_ends == 0);
    CHECK(job.ranks[1].late_sender_s == Approx(0.020));
    CHECK(job.ranks[0].caused_message_wait_s == Approx(0.020));
    CHECK(job.ranks[0].late_receiver_s == Approx(0.051));
    CHECK(site_of(job, "MPI_Recv").wait_s == Approx(0.020));
    CHECK(site_of(job, "MPI_Send").wait_s == Approx(0.051));
    REQUIRE(job.matrix.places.size() == 1);
    CHECK(job.matrix.places[0].messages == 3);
    CHECK(job.matrix.places[0].bytes == 3000);
}

TEST_CASE("work done one rank after another is a chain; one slow rank is none") {
    SyntheticJob pipeline(6);
    for (int step = 0; step < 10; ++step) {
        for (int rank = 0; rank < 6; ++rank) {
            if (rank > 0)
                pipeline.message(rank - 1, rank, 8, 0.00001);
            pipeline.compute(rank, 0.010);
        }
        pipeline.allreduce();
    }
    const model::Run serial = pipeline.replay();
    const model::MpiChains& chains = only_job(serial).chains;
    CHECK(chains.longest == 6);
    CHECK(chains.longest_ranks == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(chains.call == "MPI_Recv");
    CHECK(chains.waits == 40); // of ranks 2 to 5
    CHECK(chains.wait_s == Approx(10 * (0.02 + 0.03 + 0.04 + 0.05)).epsilon(0.01));
    // At the end of a step all wait for rank 5, which had waited: 50 + 40 + 30 + 20 + 10 ms, 5/6 of that for its waiting.
    CHECK(chains.collective_wait_s == Approx(10 * 0.15).epsilon(0.01));
    CHECK(only_job(serial).ranks[5].lateness.waiting_s == Approx(0.25).epsilon(0.3));

    SyntheticJob slow(6);
    for (int step = 0; step < 10; ++step) {
        slow.compute_all(0.010);
        slow.compute(0, 0.030);
        for (int rank = 1; rank < 6; ++rank)
            slow.message(rank - 1, rank, 8, 0.00001);
        slow.allreduce();
    }
    const model::Run blamed = slow.replay();
    CHECK(only_job(blamed).chains.waits == 0);
    CHECK(only_job(blamed).ranks[0].caused_message_wait_s == Approx(10 * 5 * 0.030).epsilon(0.01));
}

TEST_CASE("a delay that was passed on is followed to the rank that began it") {
    SyntheticJob made(8);
    for (int step = 0; step < 20; ++step) {
        made.compute_all(0.010);
        made.compute(0, 0.020);
        made.message(0, 1, 8, 0.00001); // 1 and then 2 wait for 0
        made.message(1, 2, 8, 0.00001);
        made.compute(2, 0.001);
        made.allreduce();
    }
    const model::Run run = made.replay();
    const model::MpiRankRow& last = only_job(run).ranks[2];
    CHECK(last.times_last == 20);
    CHECK(last.delayed_by == 0);
    CHECK(last.lateness.waiting_s > 0.5 * last.lateness_s);
}

TEST_CASE("latency and bandwidth are those of the messages") {
    SyntheticJob made(2, [](int rank) { return rank; });
    for (int step = 0; step < 60; ++step) {
        const uint64_t bytes = uint64_t{1} << (2 * (step % 10));
        made.compute(0, 0.001);
        made.message(0, 1, bytes, 5e-6 + static_cast<double>(bytes) * 1e-9);
        made.allreduce();
        made.allreduce(); // arrives together: the two clocks are known to be the same
    }
    const model::Run run = made.replay();
    const model::MpiTransferFit& fit = only_job(run).between_hosts;
    CHECK_FALSE(only_job(run).within_host.known);
    REQUIRE(fit.known);
    CHECK(fit.messages == 60);
    CHECK(fit.latency_s == Approx(5e-6).epsilon(0.05));
    CHECK(fit.seconds_per_byte == Approx(1e-9).epsilon(0.05));
}

TEST_CASE("clocks of several hosts are set to one another by their collectives") {
    SyntheticJob made(4, [](int rank) { return rank / 2; });
    made.set_clock(1, 0.250, 2e-5);
    for (int step = 0; step < 400; ++step) {
        made.compute_all(0.010);
        made.compute(3, 0.002);
        made.allreduce(20e-6);
        made.allreduce(20e-6); // arrives together: this is what bounds the clocks
    }
    const model::Run run = made.replay();
    const model::MpiJob& job = only_job(run);
    CHECK(job.clocks.hosts == 2);
    CHECK(job.clocks.aligned);
    CHECK(job.clocks.largest_shift_s == Approx(0.250).epsilon(0.01));
    CHECK(job.clocks.largest_drift == Approx(2e-5).epsilon(0.05));
    CHECK(job.clocks.error_s < 30e-6);
    CHECK(job.clocks.error_s >= 10e-6);
    CHECK(job.ranks[0].collective_wait_s == Approx(0.8).epsilon(0.02));
    CHECK(job.ranks[3].times_last >= 400);
    CHECK(job.ranks[3].gain_s == Approx(0.8).epsilon(0.02));
}

TEST_CASE("any number of threads gives the same") {
    const auto summary = [](unsigned threads) {
        SyntheticJob made(7);
        for (int step = 0; step < 64; ++step) {
            for (int rank = 0; rank < 7; ++rank)
                made.compute(rank, 0.001 * (1 + (step * 5 + rank * 3) % 7));
            for (int rank = 1; rank < 7; ++rank)
                made.message(rank - 1, rank, 64, 0.0001);
            made.allreduce(0.0001);
            made.bcast(step % 7, 0.0001);
        }
        const model::Run run = made.replay(threads);
        const model::MpiJob& job = only_job(run);
        std::vector<double> numbers = {job.wait_s, job.operation_s, job.imbalance_s, job.chains.wait_s,
                                       job.chains.collective_wait_s, job.granularity.median_s, job.granularity.mean_cycle_s};
        for (const model::MpiRankRow& row : job.ranks)
            numbers.insert(numbers.end(), {row.gain_s, row.caused_wait_s, row.lateness.computing_s, row.lateness.waiting_s,
                                           row.late_sender_s, static_cast<double>(row.times_last)});
        for (const model::MpiCallSite& site : job.sites)
            numbers.insert(numbers.end(), {site.wait_s, site.operation_s, site.time_s});
        for (const float cell : job.arrivals.mean_s)
            numbers.push_back(static_cast<double>(cell));
        return numbers;
    };
    const std::vector<double> alone = summary(1);
    CHECK(summary(2) == alone);
    CHECK(summary(5) == alone);
}

TEST_CASE("granularity: intervals and cycles, the quickest against the mean") {
    SyntheticJob made(2);
    for (int step = 0; step < 100; ++step) {
        made.compute_all(step % 4 == 0 ? 0.004 : 0.002);
        made.allreduce(0.0005);
    }
    const model::Run run = made.replay();
    const model::MpiGranularity& granularity = only_job(run).granularity;
    CHECK(granularity.intervals == 200);
    CHECK(granularity.mean_s == Approx(0.0025));
    CHECK(granularity.least_s == Approx(0.002));
    CHECK(granularity.median_s == Approx(0.002).epsilon(0.07));
    CHECK(granularity.ninetieth_s == Approx(0.004).epsilon(0.07));
    CHECK(granularity.cycles == 99);
    CHECK(granularity.least_cycle_s == Approx(0.0025));
    CHECK(granularity.mean_cycle_s == Approx(0.003).epsilon(0.01));
}

TEST_CASE("the heat map shows who was late when") {
    SyntheticJob made(3);
    for (int step = 0; step < 10; ++step) {
        made.compute_all(0.010);
        if (step == 7)
            made.compute(1, 0.005);
        made.allreduce();
    }
    const model::Run run = made.replay();
    const model::MpiHeatMap& map = only_job(run).arrivals;
    REQUIRE(map.rows.size() == 3);
    REQUIRE(map.columns.size() == 10);
    CHECK(map.latest_s[1 * 10 + 7] == Approx(0.005));
    CHECK(map.latest_s[1 * 10 + 6] == Approx(0).margin(1e-7));
    CHECK(map.latest_s[0 * 10 + 7] == Approx(0).margin(1e-7));
}

TEST_CASE("thinned recordings are scaled up") {
    SyntheticJob made(4);
    made.collective_stride = 4;
    for (int step = 0; step < 100; ++step) {
        made.compute_all(0.010);
        made.compute(2, 0.004);
        made.allreduce(0.001);
    }
    const model::Run run = made.replay();
    const model::MpiJob& job = only_job(run);
    CHECK(job.epochs == 25);
    CHECK(job.epoch_stride == 4);
    CHECK(job.ranks[0].collective_wait_s == Approx(0.4));
    CHECK(job.ranks[2].gain_s == Approx(0.4));
    CHECK(job.granularity.cycles == 0);
}

TEST_CASE("a file that cannot be read again costs its rank's events, and is reported") {
    SyntheticJob made = late_rank();
    made.lose_file(3);
    const model::Run run = made.replay(2);
    const model::MpiJob& job = only_job(run);
    CHECK(job.epochs == 0);
    CHECK(job.incomplete_epochs == 100);
    CHECK(job.ranks[3].mpi_s == Approx(0.5)); // counts are known
    const auto told = [](const std::string& note) { return note.find("MPI events of rank 3") != std::string::npos; };
    CHECK(std::ranges::count_if(run.notes, told) == 1);
}

TEST_CASE("when epochs outgrow their table, all shares keep the same ones") {
    const auto event = [](const replay::Membership& member, uint64_t sequence, replay::Nanoseconds begin) {
        return replay::Collective{.membership = &member, .sequence = sequence, .site = 0,
                                  .kind = trace::kMpiSynchronising, .root = -1, .begin = begin, .wait = begin,
                                  .end = begin + 10, .gap = 5, .gap_mpi = 0, .bytes = 0};
    };
    replay::Job job;
    job.ranks.resize(2);
    job.comms.push_back({.size = 2, .name = {}, .recorded = 2, .sampled = {0, 1}});
    const replay::EpochTable::Limits limits{.rows = 16, .samples = 1000};
    replay::EpochTable together(job, limits), first(job, limits), second(job, limits);
    const replay::Membership members[2] = {{.comm = 0, .member = 0, .slot = 0}, {.comm = 0, .member = 1, .slot = 1}};
    for (uint64_t sequence = 0; sequence < 100; ++sequence)
        for (uint32_t row = 0; row < 2; ++row) {
            const auto collective = event(members[row], sequence, static_cast<int64_t>(100 * sequence + 7 * row));
            together.take(row, collective);
            if (row == 1 || sequence < 40) // the first share's rank died early
                (row == 0 ? first : second).take(row, collective);
        }
    CHECK(together.stride() == 8);
    first.merge(second);
    together.finish();
    first.finish();
    CHECK(first.stride() == 8);
    REQUIRE(first.epochs().size() == 13);
    CHECK(first.epochs()[5].complete == false);
    CHECK(first.epochs()[4].complete);
    size_t hint = 0;
    REQUIRE(together.find(0, 16, hint));
    CHECK(together.find(0, 16, hint)->last.begin == 1607);
    CHECK_FALSE(together.find(0, 17, hint));
}
