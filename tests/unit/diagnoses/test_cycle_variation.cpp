// cycle-variation: jobs that lose time in irregular cycles for a known reason, and innocent ones.
#include "diagnosed_job.h"
#include "diagnoses/mpi/mpi_metrics.h"

#include <catch2/catch.hpp>
#include <functional>

using namespace plumb;
using plumb::testing::Diagnosed;
using plumb::testing::SyntheticJob;

namespace {

// One in `of` steps, at no regular distance.
bool is_hit(int step, unsigned of = 8) {
    uint64_t mixed = (static_cast<uint64_t>(step) + 1) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    return (mixed ^ (mixed >> 31)) % of == 0;
}

struct Step {
    double work_s = 0.010, delay_s = 0, asleep_s = 0, operation_s = 0.0005;
};

// Six ranks of which `step_of(step, rank)` says what each does; the scheduler is looked at after each step.
SyntheticJob job_of(int steps, const std::function<Step(int, int)>& step_of) {
    SyntheticJob job(6);
    for (int step = 0; step < steps; ++step) {
        double operation_s = 0;
        for (int rank = 0; rank < 6; ++rank) {
            const Step own = step_of(step, rank);
            job.compute(rank, own.work_s + own.delay_s + own.asleep_s);
            job.look(rank, own.work_s, own.delay_s);
            operation_s = std::max(operation_s, own.operation_s);
        }
        job.allreduce(operation_s);
    }
    return job;
}

std::vector<Finding> found_in(int steps, const std::function<Step(int, int)>& step_of) {
    SyntheticJob job = job_of(steps, step_of);
    return Diagnosed(job).findings("cycle-variation");
}

double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

// Each time another rank.
int victim(int step) { return (step * 5 + step / 7) % 6; }

} // namespace

TEST_CASE("cycle-variation: ranks that lose their CPU now and then, each time another one") {
    const auto findings = found_in(400, [](int step, int rank) {
        return Step{.delay_s = is_hit(step) && rank == victim(step) ? 0.020 : 0};
    });
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(std::get<std::string>(finding.subject.details.at("cause")) == "without-cpu");
    int hits = 0;
    for (int step = 1; step < 400; ++step)
        hits += is_hit(step);
    CHECK(finding.cost.seconds == Approx(hits * 0.020).epsilon(0.1));
    CHECK(finding.gain.fraction == Approx(finding.cost.fraction));
    CHECK(finding.severity == Severity::high);
    CHECK(finding.where.at(0).line == 100);
    CHECK_THAT(finding.title, Catch::Contains("Ranks that have no CPU lengthen the mean cycle from 10.") && Catch::Contains("app.c:100"));
    CHECK(number(finding, "attainable_cycle_seconds") == Approx(0.0105).epsilon(0.02));
}

TEST_CASE("cycle-variation: ranks that are blocked outside MPI") {
    const auto findings = found_in(400, [](int step, int rank) {
        return Step{.asleep_s = is_hit(step) && rank == victim(step) ? 0.015 : 0};
    });
    REQUIRE(findings.size() == 1);
    CHECK(std::get<std::string>(findings[0].subject.details.at("cause")) == "blocked");
}

TEST_CASE("cycle-variation: operations that take longer now and then") {
    const auto findings = found_in(400, [](int step, int) { return Step{.operation_s = is_hit(step) ? 0.012 : 0.0005}; });
    REQUIRE(findings.size() == 1);
    CHECK(std::get<std::string>(findings[0].subject.details.at("cause")) == "mpi");
    CHECK(findings[0].gain.at_least.has_value());
}

TEST_CASE("cycle-variation: cycles that differ by design are nobody's loss") {
    CHECK(found_in(400, [](int step, int rank) { // every tenth cycle rank 0 writes a file
              return Step{.asleep_s = step % 10 == 9 && rank == 0 ? 0.030 : 0};
          }).empty());
    CHECK(found_in(400, [](int step, int) { // two kinds in turn, one of which exchanges much data
              return Step{.operation_s = step % 2 ? 0.010 : 0.0005};
          }).empty());
    CHECK(found_in(400, [](int step, int) { // a grid that grows, and its messages with it
              return Step{.work_s = 0.010 + 1e-4 * step, .operation_s = 0.001 + 3e-5 * step};
          }).empty());
    CHECK(found_in(400, [](int step, int) { return Step{.work_s = is_hit(step) ? 0.030 : 0.010}; }).empty()); // all have more to do
    CHECK(found_in(3000, [](int step, int rank) { // a checkpoint each 150 cycles
              return Step{.asleep_s = step % 150 == 149 && rank == 0 ? 2.0 : 0};
          }).empty());
    CHECK(found_in(400, [](int, int) { return Step{}; }).empty());
}

TEST_CASE("cycle-variation: a further collective in a cycle makes it another kind") {
    SyntheticJob job(6);
    for (int step = 0; step < 400; ++step) {
        for (int rank = 0; rank < 6; ++rank) {
            const double asleep_s = is_hit(step) && rank == 0 ? 0.020 : 0; // it writes what has converged
            job.compute(rank, 0.010 + asleep_s);
            job.look(rank, 0.010, 0);
        }
        if (is_hit(step))
            job.allreduce(0.0005, {}, "MPI_Barrier");
        job.allreduce(0.0005);
    }
    CHECK(Diagnosed(job).findings("cycle-variation").empty());
}

TEST_CASE("cycle-variation: work of changing ranks is reported by others") {
    CHECK(found_in(400, [](int step, int rank) { return Step{.work_s = is_hit(step) && rank == victim(step) ? 0.030 : 0.010}; }).empty());
}

TEST_CASE("cycle-variation: little, few cycles, or one rank that mpi-late-rank names") {
    CHECK(found_in(400, [](int step, int rank) {
              return Step{.delay_s = is_hit(step) && rank == victim(step) ? 0.001 : 0};
          }).empty());
    CHECK(found_in(30, [](int step, int rank) {
              return Step{.delay_s = is_hit(step) && rank == victim(step) ? 0.020 : 0};
          }).empty());
    CHECK(found_in(400, [](int step, int rank) { // once is no variation
              return Step{.delay_s = step == 200 && rank == 1 ? 2.0 : 0};
          }).empty());
    SyntheticJob job = job_of(400, [](int step, int rank) { return Step{.delay_s = is_hit(step) && rank == 2 ? 0.020 : 0}; });
    Diagnosed made(job);
    CHECK(made.findings("mpi-late-rank").size() == 1);
    CHECK(made.findings("cycle-variation").empty());
}

TEST_CASE("cycle-variation: no gain is promised where the ranks lack CPUs altogether") {
    SyntheticJob job = job_of(400, [](int step, int rank) { return Step{.delay_s = is_hit(step) && rank == victim(step) ? 0.020 : 0}; });
    Diagnosed made(job);
    made.starve(0.5);
    const auto findings = made.findings("cycle-variation");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].gain.fraction == 0);
    CHECK(findings[0].severity == Severity::info);
}

TEST_CASE("metrics: the tenth percentile of cycles stands between the least and the mean") {
    SyntheticJob job = job_of(400, [](int step, int rank) { return Step{.delay_s = is_hit(step) && rank == 0 ? 0.020 : 0}; });
    Diagnosed made(job);
    double least_s = 0, tenth_s = 0, mean_s = 0;
    for (const Metric& metric : mpi_metrics_of(made.run.mpi_jobs.at(0))) {
        least_s = metric.name == "least cycle" ? metric.value : least_s;
        tenth_s = metric.name == "tenth percentile of cycles" ? metric.value : tenth_s;
        mean_s = metric.name == "mean cycle" ? metric.value : mean_s;
    }
    CHECK(least_s > 0);
    CHECK(least_s <= tenth_s);
    CHECK(tenth_s < mean_s);
}
