// What reports say of the cycles of a job.
#include "reports/words/cycle_words.h"

#include <catch2/catch.hpp>

using namespace plumb;
using Catch::Contains;

namespace {

struct Described {
    Described() {
        job.size = 4;
        summary.job = &job;
        summary.cycle_frame = {"step", "app.c", 20, "app", false};
        model::MpiCycles& cycles = job.cycles;
        cycles.call = "MPI_Allreduce";
        cycles.count = 1000;
        cycles.mean_s = 2.1;
        cycles.least_s = 0.69;
        cycles.tenth_s = 0.7;
        cycles.median_s = 1.9;
        cycles.ninetieth_s = 2.9;
        cycles.most_s = 3;
        cycles.attainable_s = 0.72;
        cycles.loss = {.imbalance_s = 0.02, .without_cpu_s = 1.0, .mpi_s = 0.36};
        cycles.look_s = 0.25;
    }
    model::MpiJob job;
    MpiSummary summary;
};

CycleExpectation expected(double seconds, double ratio) {
    CycleExpectation expectation;
    expectation.expected_s = seconds;
    expectation.ratio = ratio;
    return expectation;
}

} // namespace

TEST_CASE("cycles in words: their times, and what the mean one loses") {
    Described described;
    const MpiSummary& summary = described.summary;
    CHECK(cycles_sentence(summary) == "1,000 cycles, each from MPI_Allreduce at app.c:20 in step to the next: mean 2.10 s; least 690 ms, tenth "
                                      "percentile 700 ms, median 1.90 s, ninetieth percentile 2.90 s, most 3.00 s.");
    CHECK(cycle_loss_sentence(summary) == "The mean cycle takes 1.38 s more than the fastest tenth of like cycles (720 ms): 1.00 s while the "
                                          "last rank had no CPU, 360 ms in MPI itself."); // less than 5 % is not worth a word
    described.job.cycles.period = 10;
    CHECK_THAT(cycle_loss_sentence(summary), Contains("A pattern repeats every 10 cycles: only cycles that are alike in this were compared."));
    described.job.cycles.attainable_s = 2.09;
    CHECK_THAT(cycle_loss_sentence(summary), Contains("Cycles that are alike take about the same time. A pattern"));
    described.job.cycles.count = 60;
    described.job.cycles.period = 12;
    CHECK_THAT(cycle_loss_sentence(summary), Contains("not known, because too few are alike. A pattern"));
    described.job.cycles.count = 30;
    CHECK(cycle_loss_sentence(summary).empty());
    described.job.cycles = {};
    CHECK(cycles_sentence(summary).empty());
}

TEST_CASE("cycles in words: looks that are too rare are said") {
    Described described;
    described.job.cycles.look_s = 3;
    described.job.cycles.loss = {.mpi_s = 0.3, .other_s = 1.08};
    CHECK_THAT(cycle_loss_sentence(described.summary),
               Contains("1.08 s outside MPI, 300 ms in MPI itself. Which cycles lost a CPU is not known: the scheduler's counters are read every "
                        "3.00 s."));
}

TEST_CASE("cycles in words: measured against expected") {
    Described described;
    CHECK(expectation_sentence(described.summary).empty());
    described.summary.expectation = expected(1.5, 1.4);
    CHECK(expectation_sentence(described.summary) == "The model expects 1.50 s a cycle of 4 ranks; measured 2.10 s, 1.40 times as much. No change "
                                                     "of this in the course of the run is significant.");
    described.summary.expectation->change = CycleExpectation::Change{.cycle = 399, .at_s = 620, .before = 1.02, .after = 1.6};
    CHECK_THAT(expectation_sentence(described.summary),
               Contains("This changed at cycle 400, 10 min 20 s after the job began: from 1.02 to 1.60 times, by the medians."));
    described.summary.expectation->change->is_gradual = true;
    CHECK_THAT(expectation_sentence(described.summary), Contains("gradually: from 1.02 times before cycle 400 to 1.60 times after it"));
    described.summary.expectation = expected(1000, 0.0021);
    CHECK_THAT(expectation_sentence(described.summary), Contains("0.002 times"));
    described.summary.expectation->why_not = "it has no cycles";
    CHECK(expectation_sentence(described.summary) == "The cycles of 4 ranks are not compared with the model: it has no cycles.");
}
