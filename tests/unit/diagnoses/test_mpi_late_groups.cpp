// Ranks that are late together: reported as one where they have a reason in common, apart where they have not.
#include "diagnosed_job.h"
#include "replay/collectives/late_levels.h"

#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <set>
#include <utility>

using namespace plumb;
using plumb::testing::Diagnosed;
using plumb::testing::kExtra;
using plumb::testing::kOther;
using plumb::testing::kWork;
using plumb::testing::SyntheticJob;

namespace {

constexpr int kSteps = 100, kRanks = 16;
constexpr double kWork_s = 0.010;

// Extra seconds of a rank in a step.
using Extra = std::function<double(int rank, int step)>;

// Ranks whose work scatters by up to 2 % in each step.
SyntheticJob steps(const Extra& extra, SyntheticJob job = SyntheticJob(kRanks), bool halo = false) {
    std::minstd_rand random(7);
    std::uniform_real_distribution<double> scatter_s(0, 0.02 * kWork_s);
    for (int step = 0; step < kSteps; ++step) {
        for (int rank = 0; rank < job.size(); ++rank)
            job.compute(rank, kWork_s + scatter_s(random) + extra(rank, step));
        for (int rank = 0; halo && rank < job.size(); ++rank)
            job.message(rank, (rank + 1) % job.size(), 800, 1e-6);
        job.allreduce(1e-5);
    }
    return job;
}

Extra of_ranks(const std::set<int>& late, double extra_s) {
    return [late, extra_s](int rank, int) { return late.contains(rank) ? extra_s : 0; };
}

double elapsed_s(SyntheticJob job) { return job.replay().mpi_jobs.at(0).elapsed_s; }

// All ranks' samples of their usual work, and some of extra work.
void sample_work(Diagnosed& made) {
    for (int rank = 0; rank < static_cast<int>(made.run.processes.size()); ++rank)
        made.sample(rank, kWork, 1.0);
}
void sample_extra(Diagnosed& made, const std::set<int>& ranks, uint64_t extra) {
    for (const int rank : ranks)
        made.sample(rank, extra, 0.4);
}

const Finding& only(const std::vector<Finding>& findings) {
    REQUIRE(findings.size() == 1);
    return findings[0];
}

std::vector<int64_t> numbers(const Finding& finding, const char* key) {
    REQUIRE(finding.evidence.contains(key));
    return std::get<std::vector<int64_t>>(finding.evidence.at(key));
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("all ranks of a node are late: one finding, with the line, and what the cured job gains") {
    const std::set<int> late = {8, 9, 10, 11, 12, 13, 14, 15};
    const auto on_two_nodes = [] { return SyntheticJob(kRanks, [](int rank) { return rank / 8; }); };
    SyntheticJob slow = steps(of_ranks(late, 0.004), on_two_nodes());
    const double measured_s = elapsed_s(slow) - elapsed_s(steps(of_ranks({}, 0), on_two_nodes()));
    Diagnosed made(slow);
    sample_work(made);
    sample_extra(made, late, kExtra);
    const auto findings = made.findings("mpi-late-rank");
    const Finding& finding = only(findings);
    CHECK(finding.subject.kind == "ranks");
    CHECK(finding.subject.name == "8-15");
    CHECK(contains(finding.title, "8 ranks wait for ranks 8-15 (node node1): they compute more than the others, at app.c:20"));
    CHECK(std::get<std::string>(finding.subject.details.at("host")) == "node1");
    CHECK(finding.where.at(0).line == 20);
    CHECK(finding.cost.seconds == Approx(measured_s).epsilon(0.05));
    CHECK(finding.gain.fraction == Approx(finding.cost.fraction));
    CHECK(numbers(finding, "late_ranks") == std::vector<int64_t>{8, 9, 10, 11, 12, 13, 14, 15});
    CHECK(made.findings("mpi-collective-wait").empty()); // the same seconds
}

TEST_CASE("every fourth rank, and the ranks of one executable") {
    const std::set<int> late = {3, 7, 11, 15};
    SyntheticJob fourth = steps(of_ranks(late, 0.004));
    const auto strided = Diagnosed(fourth).findings("mpi-late-rank"); // no samples at all
    CHECK(contains(only(strided).title, "ranks 3, 7, 11, 15 (every fourth rank): they compute more"));
    SyntheticJob coupled = steps(of_ranks(late, 0.004), SyntheticJob(kRanks, {}, [&](int rank) {
                                     return late.contains(rank) ? "/opt/ocean.exe" : "/opt/air.exe";
                                 }));
    const auto program = Diagnosed(coupled).findings("mpi-late-rank");
    CHECK(contains(only(program).title, "ranks 3, 7, 11, 15 (ocean.exe): they compute more"));
    CHECK(contains(only(program).advice.at(0).what, "more ranks"));
}

TEST_CASE("two ranks that are late alike by chance stay two findings, with the same work they are one") {
    SyntheticJob job = steps(of_ranks({3, 9}, 0.004));
    Diagnosed apart(job);
    sample_work(apart);
    sample_extra(apart, {3}, kExtra);
    sample_extra(apart, {9}, kOther);
    const auto two = apart.findings("mpi-late-rank");
    REQUIRE(two.size() == 2);
    CHECK(two[0].subject.name == "3");
    CHECK(two[0].where.at(0).line == 20);
    CHECK(numbers(two[0], "late_alike_ranks") == std::vector<int64_t>{9});
    CHECK(contains(two[0].gain.how, "together with the cure of rank 9"));
    CHECK(two[1].subject.name == "9");
    CHECK(two[1].where.at(0).line == 30);
    Diagnosed together(job);
    sample_work(together);
    sample_extra(together, {3, 9}, kExtra);
    const auto one = together.findings("mpi-late-rank");
    CHECK(only(one).subject.name == "3, 9");
    CHECK(only(one).cost.seconds == Approx(kSteps * 0.004).epsilon(0.05));
    const auto nothing_known = Diagnosed(job).findings("mpi-late-rank"); // two ranks may be late alike by chance
    CHECK(nothing_known.size() == 2);
}

TEST_CASE("two ranks that are late by turns are two findings, and each gains what it costs") {
    SyntheticJob job = steps([](int rank, int step) { return rank == 3 + 6 * (step % 2) ? 0.008 : 0; });
    Diagnosed made(job);
    sample_work(made);
    sample_extra(made, {3}, kExtra);
    sample_extra(made, {9}, kOther);
    const auto findings = made.findings("mpi-late-rank");
    REQUIRE(findings.size() == 2);
    for (const Finding& finding : findings) {
        CHECK(finding.subject.kind == "rank");
        CHECK(finding.cost.seconds == Approx(kSteps / 2 * 0.008).epsilon(0.05));
        CHECK_FALSE(finding.evidence.contains("late_alike_ranks"));
    }
}

TEST_CASE("ranks that hide behind a later one are reported with the gain of their cure after its cure") {
    const auto extra = [](double of_one_s, double of_some_s) -> Extra {
        return [=](int rank, int) { return rank == 3 ? of_one_s : rank >= 8 && rank < 12 ? of_some_s : 0; };
    };
    SyntheticJob job = steps(extra(0.006, 0.003));
    const double one_s = elapsed_s(job) - elapsed_s(steps(extra(0, 0.003)));
    const double some_s = elapsed_s(steps(extra(0, 0.003))) - elapsed_s(steps(extra(0, 0)));
    const auto findings = Diagnosed(job).findings("mpi-late-rank");
    REQUIRE(findings.size() == 2);
    const Finding& first = findings[findings[0].subject.name == "3" ? 0 : 1];
    const Finding& behind = findings[findings[0].subject.name == "3" ? 1 : 0];
    CHECK(first.subject.name == "3");
    CHECK(first.cost.seconds == Approx(one_s).epsilon(0.05));
    CHECK(behind.subject.name == "8-11");
    CHECK(behind.cost.seconds == Approx(some_s).epsilon(0.05));
    CHECK(contains(behind.title, "Behind rank 3, 11 ranks wait for ranks 8-11: they compute longer"));
    CHECK(numbers(behind, "hidden_behind_ranks") == std::vector<int64_t>{3});
    CHECK(Diagnosed(job).findings("mpi-collective-wait").empty());
}

TEST_CASE("more ranks than are compared line by line, with and without samples") {
    std::set<int> late;
    for (int rank = 40; rank < 80; ++rank)
        late.insert(rank);
    SyntheticJob job = steps(of_ranks(late, 0.004), SyntheticJob(100));
    const auto unsampled = Diagnosed(job).findings("mpi-late-rank");
    CHECK(only(unsampled).subject.name == "40-79");
    Diagnosed made(job);
    sample_work(made);
    sample_extra(made, late, kExtra);
    const auto sampled = made.findings("mpi-late-rank");
    CHECK(only(sampled).subject.name == "40-79");
    CHECK(only(sampled).where.at(0).line == 20);
}

TEST_CASE("their neighbours wait for their messages: the gain is still what the cured job measures") {
    const std::set<int> late = {4, 5, 6, 7};
    SyntheticJob slow = steps(of_ranks(late, 0.004), SyntheticJob(kRanks), true);
    const double measured_s = elapsed_s(slow) - elapsed_s(steps(of_ranks({}, 0), SyntheticJob(kRanks), true));
    const auto findings = Diagnosed(slow).findings("mpi-late-rank");
    CHECK(only(findings).subject.name == "4-7");
    CHECK(only(findings).cost.seconds == Approx(measured_s).epsilon(0.1));
}

TEST_CASE("several ranks that lack CPUs are a finding, and say so") {
    const std::set<int> late = {4, 5, 6};
    SyntheticJob job = steps(of_ranks(late, 0.008));
    Diagnosed made(job);
    for (const int rank : late) {
        made.starve(0.4, rank);
        model::MpiLateness& lateness = made.run.mpi_jobs[0].ranks[static_cast<size_t>(rank)].lateness;
        lateness.starved_s = std::exchange(lateness.computing_s, 0);
    }
    const auto findings = made.findings("mpi-late-rank");
    CHECK(contains(only(findings).title, "ranks 4-6: they wait for CPUs"));
    CHECK(only(findings).severity == Severity::high);
}

TEST_CASE("levels of compute time") {
    using Levels = std::vector<std::vector<uint32_t>>;
    CHECK(replay::find_levels({10, 10, 14, 14.1, 10, 10}, 0.1) == Levels{{2, 3}});
    CHECK(replay::find_levels({10, 16, 14, 14.1, 10, 10, 10, 10}, 0.1) == Levels{{1}, {2, 3}});
    CHECK(replay::find_levels({1, 2, 3, 4, 5, 6, 7, 8}, 0.1).empty());           // a slope has no step
    CHECK(replay::find_levels({10, 10.5, 11, 11.5, 12, 12.5}, 0.1).empty());     // no farther than the others are apart
    CHECK(replay::find_levels({10, 14, 14, 14, 14, 14}, 0.1).empty());           // most of them are what is usual
    CHECK(replay::find_levels({10, 10, 10, 10.05, 10.05, 10}, 0.1).empty());     // too little
    CHECK(replay::find_levels({0, 10, 10, 10, 14, 14}, 0.1) == Levels{{4, 5}});  // one that idles is no measure
    CHECK(replay::find_levels({10, 14}, 0.1) == Levels{{1}});
    CHECK(replay::find_levels({10}, 0.1).empty());
    CHECK(replay::find_levels({}, 0.1).empty());
}
