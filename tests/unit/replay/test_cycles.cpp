// The cycles of made-up jobs: their times, their parts, and what they lose.
#include "replay/cycle_times.h"
#include "synthetic_job.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace plumb;
using plumb::testing::SyntheticJob;

namespace {

const model::MpiCycles& cycles_of(const model::Run& run) {
    REQUIRE(run.mpi_jobs.size() == 1);
    return run.mpi_jobs[0].cycles;
}

// Four ranks; `more(step, rank)` beyond 10 ms of work each; operations take 1 ms.
SyntheticJob steps(int count, const std::function<double(int, int)>& more) {
    SyntheticJob job(4);
    for (int step = 0; step < count; ++step) {
        for (int rank = 0; rank < 4; ++rank)
            job.compute(rank, 0.010 + more(step, rank));
        job.allreduce(0.001);
    }
    return job;
}

// One in `of` steps, at no regular distance.
bool is_hit(int step, unsigned of = 10) {
    uint64_t mixed = (static_cast<uint64_t>(step) + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    return (mixed ^ (mixed >> 31)) % of == 0;
}

double sum_of_points(const model::MpiCycles& cycles) {
    double sum_s = 0;
    for (const model::MpiCycles::Point& point : cycles.series)
        sum_s += point.mean_s * static_cast<double>(point.cycles);
    return sum_s;
}

} // namespace

TEST_CASE("cycles: quantiles, series and histogram of irregular ones, and their parts") {
    SyntheticJob job = steps(1001, [](int step, int rank) { return rank == step % 4 && step % 7 == 3 ? 0.020 : 0; });
    const model::Run run = job.replay();
    const model::MpiCycles& cycles = cycles_of(run);
    CHECK(cycles.call == "MPI_Allreduce");
    CHECK(cycles.count == 1000);
    CHECK(cycles.least_s == Approx(0.011));
    CHECK(cycles.tenth_s == Approx(0.011));
    CHECK(cycles.median_s == Approx(0.011));
    CHECK(cycles.ninetieth_s == Approx(0.031));
    CHECK(cycles.most_s == Approx(0.031));
    CHECK(cycles.mean_s == Approx(0.011 + 0.020 * 143 / 1000));
    CHECK(cycles.mean.sum_s() == Approx(cycles.mean_s));
    CHECK(cycles.mean.work_s == Approx(0.010));
    CHECK(cycles.mean.imbalance_s == Approx(0.020 * 143 / 1000));
    CHECK(cycles.mean.mpi_s == Approx(0.001));
    REQUIRE(cycles.series.size() == 512);
    uint64_t count = 0;
    for (const model::MpiCycles::Point& point : cycles.series) {
        CHECK(point.first == count);
        CHECK(point.least_s <= point.mean_s);
        CHECK(point.mean_s <= point.most_s * (1 + 1e-9));
        CHECK(point.begin_s < point.end_s);
        count += point.cycles;
    }
    CHECK(count == 1000);
    CHECK(cycles.series.front().begin_s == Approx(0.010)); // the first collective
    CHECK(cycles.series.back().end_s == Approx(cycles.mean_s * 1000 + 0.010));
    CHECK(sum_of_points(cycles) == Approx(1000 * cycles.mean_s));
    count = 0;
    for (const model::MpiCycles::Bin& bin : cycles.histogram)
        count += bin.cycles;
    CHECK(count == 1000);
    REQUIRE(cycles.histogram.size() >= 2);
    CHECK(cycles.histogram.front().cycles == 857);
    CHECK(cycles.histogram.front().from_s <= 0.011);
    CHECK(cycles.histogram.back().to_s >= 0.031);
    CHECK(cycles.period == 7); // every seventh is longer: its own kind, nothing is lost
    CHECK(cycles.attainable_s == Approx(cycles.mean_s));
    CHECK(run.mpi_jobs[0].granularity.cycles == 1000);
    CHECK(run.mpi_jobs[0].granularity.mean_cycle_s == Approx(cycles.mean_s));
}

TEST_CASE("cycles: the result does not depend on how many threads replay") {
    const auto replayed = [](unsigned threads) {
        SyntheticJob job = steps(300, [](int step, int rank) { return 0.0001 * ((step * 7919 + rank * 104729) % 97); });
        return job.replay(threads);
    };
    const model::Run one = replayed(1), several = replayed(3);
    const model::MpiCycles &left = cycles_of(one), &right = cycles_of(several);
    CHECK(left.mean_s == right.mean_s);
    CHECK(left.attainable_s == right.attainable_s);
    CHECK(left.loss.imbalance_s == right.loss.imbalance_s);
    CHECK(left.mean.work_s == right.mean.work_s);
    CHECK(left.slow == right.slow);
    REQUIRE(left.series.size() == right.series.size());
    for (size_t at = 0; at < left.series.size(); ++at)
        CHECK(left.series[at].mean_s == right.series[at].mean_s);
}

TEST_CASE("cycles: irregular disturbances are lost, growth and other collectives within a cycle are not") {
    SyntheticJob disturbed = steps(400, [](int step, int rank) { return is_hit(step) && rank == step % 3 ? 0.020 : 0; });
    const model::Run run = disturbed.replay();
    const model::MpiCycles& lost = cycles_of(run);
    CHECK(lost.period == 1);
    CHECK(lost.attainable_s == Approx(0.011));
    CHECK(lost.mean_s - lost.attainable_s > 0.001);
    CHECK(lost.loss.imbalance_s == Approx(lost.mean_s - lost.attainable_s));
    CHECK(lost.slow > 20);

    SyntheticJob growing = steps(400, [](int step, int) { return 0.0001 * step; });
    const model::Run grown = growing.replay();
    CHECK(cycles_of(grown).drifts);
    CHECK(cycles_of(grown).loss.imbalance_s == Approx(0).margin(1e-6));
    CHECK(cycles_of(grown).mean_s - cycles_of(grown).attainable_s < 0.0015); // within a stretch of the run
    CHECK(cycles_of(grown).mean_s > 0.030);

    SyntheticJob kinds(4); // irregularly a longer cycle, with a further collective in it
    for (int step = 0; step < 400; ++step) {
        kinds.compute_all(0.010);
        if (is_hit(step)) {
            kinds.compute(2, 0.030);
            kinds.allreduce(0.001, {}, "MPI_Barrier");
        }
        kinds.allreduce(0.001);
    }
    const model::Run several = kinds.replay();
    CHECK(cycles_of(several).kinds == 2);
    CHECK(cycles_of(several).mean.imbalance_s > 0.002);
    CHECK(cycles_of(several).attainable_s == Approx(cycles_of(several).mean_s));
}

TEST_CASE("cycles: time without a CPU and blocked, where the looks are frequent enough to say of which cycles") {
    const auto made = [](bool often) {
        SyntheticJob job(4);
        double run_s[4] = {}, delay_s[4] = {};
        for (int step = 0; step < 400; ++step) {
            const bool slow = is_hit(step);
            for (int rank = 0; rank < 4; ++rank) {
                const double lost_s = slow && rank == 1 ? 0.020 : 0, asleep_s = slow && rank == 1 ? 0.010 : 0;
                job.compute(rank, 0.010 + lost_s + asleep_s);
                run_s[rank] += 0.010;
                delay_s[rank] += lost_s;
            }
            if (often || step % 50 == 49)
                for (int rank = 0; rank < 4; ++rank) {
                    job.look(rank, run_s[rank], delay_s[rank]);
                    run_s[rank] = delay_s[rank] = 0;
                }
            job.allreduce(0.0);
        }
        return job.replay();
    };
    const model::Run fine = made(true);
    const model::MpiCycles& cycles = cycles_of(fine);
    CHECK(cycles.resolves_scheduler());
    CHECK(cycles.attainable_s == Approx(0.010).epsilon(0.01));
    CHECK(cycles.loss.without_cpu_s == Approx(2 * cycles.loss.blocked_s).epsilon(0.02));
    CHECK(cycles.loss.without_cpu_s + cycles.loss.blocked_s == Approx(cycles.mean_s - cycles.attainable_s).epsilon(0.02));
    const model::Run coarse = made(false);
    const model::MpiCycles& spread = cycles_of(coarse);
    CHECK_FALSE(spread.resolves_scheduler());
    CHECK(spread.loss.without_cpu_s == 0);
    CHECK(spread.loss.blocked_s == 0);
    CHECK(spread.loss.other_s == Approx(spread.mean_s - spread.attainable_s).epsilon(0.02));
}

TEST_CASE("cycles: a rank that loses its CPU in an operation makes it longer; that is not MPI itself") {
    SyntheticJob job(4);
    double delay_s = 0;
    for (int step = 0; step < 400; ++step) {
        job.compute_all(0.010);
        for (int rank = 0; rank < 4; ++rank)
            job.look(rank, 0.010, delay_s);
        delay_s = is_hit(step) ? 0.020 : 0;
        job.allreduce(0.001 + delay_s);
    }
    const model::Run run = job.replay();
    const model::MpiCycles& cycles = cycles_of(run);
    CHECK(cycles.loss.without_cpu_s == Approx(cycles.mean_s - cycles.attainable_s).epsilon(0.1));
    CHECK(cycles.loss.mpi_s < 0.5 * cycles.loss.without_cpu_s); // time without a CPU is spread over the look
}

TEST_CASE("cycles: a rank that waits for another's message is not the cause") {
    SyntheticJob job(3);
    for (int step = 0; step < 200; ++step) {
        job.compute_all(0.010);
        if (is_hit(step))
            job.compute(0, 0.020);
        job.message(0, 2, 8, 0.0001);
        job.allreduce(0.001);
    }
    const model::Run run = job.replay();
    const model::MpiCycles& cycles = cycles_of(run);
    CHECK(cycles.loss.imbalance_s == Approx(cycles.mean_s - cycles.attainable_s).epsilon(0.05));
    CHECK(cycles.loss.waiting_s == Approx(0).margin(1e-6));
}

TEST_CASE("cycles: none without two collectives of one site, nor of a part of them; a lost file is said") {
    SyntheticJob once(4);
    once.compute_all(0.010);
    once.allreduce();
    const model::Run run = once.replay();
    CHECK(cycles_of(run).count == 0);
    CHECK(cycles_of(run).call.empty());
    CHECK(cycles_of(run).series.empty());

    SyntheticJob thinned = steps(100, [](int, int) { return 0.0; });
    thinned.collective_stride = 4;
    CHECK(cycles_of(thinned.replay()).count == 0);

    SyntheticJob lost = steps(100, [](int, int rank) { return rank == 3 ? 0.005 : 0; });
    lost.lose_file(3);
    const model::Run without = lost.replay();
    CHECK(cycles_of(without).mean.other_s == Approx(cycles_of(without).mean_s)); // the one that all waited for
}

TEST_CASE("describe_cycles: bounded, whatever the times") {
    replay::CycleTimes times;
    model::MpiCycles none;
    replay::describe_cycles(times, none);
    CHECK(none.count == 0);
    for (int at = 0; at < 3000; ++at) {
        times.begin_s.push_back(at);
        times.length_s.push_back(at % 2 ? 1e-9 : 1e6);
        times.parts.push_back({.work_s = times.length_s.back()});
        times.signature.push_back(1);
    }
    model::MpiCycles wide;
    replay::describe_cycles(times, wide);
    CHECK(wide.series.size() == replay::kMostCyclePoints);
    CHECK(wide.histogram.size() <= 400);
    uint64_t count = 0;
    for (const model::MpiCycles::Bin& bin : wide.histogram)
        count += bin.cycles;
    CHECK(count == 3000);
}
