// mpi-rank-order with made-up jobs on two and more hosts.
#include "diagnosed_job.h"

#include <catch2/catch.hpp>

using namespace plumb;
using plumb::testing::Diagnosed;
using plumb::testing::SyntheticJob;

namespace {

constexpr uint64_t kBytes = 100'000;
constexpr double kWork_s = 1e-3, kWithin_s = 2e-5, kBetween_s = 4e-4;

double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

// Pairs of ranks that send to one another and hardly to the others: rank r with r + stride, within blocks of two strides. Their receivers
// wait already, so that what a message takes is seen.
SyntheticJob pairs(int size, int stride, const std::function<int(int)>& host_of, int steps = 100) {
    SyntheticJob job(size, host_of);
    const auto transfer_s = [&](int from, int to) { return host_of(from) == host_of(to) ? kWithin_s : kBetween_s; };
    for (int step = 0; step < steps; ++step) {
        for (int rank = 0; rank < size; ++rank)
            job.compute(rank, kWork_s);
        for (int rank = 0; rank < size; ++rank)
            if (rank / stride % 2 == 0) {
                job.compute(rank, 1e-6);
                job.message(rank, rank + stride, kBytes, transfer_s(rank, rank + stride));
            }
        if (step % 10 == 0) // a few to others, of which some are within a host and some are not
            for (int rank = 0; rank + 1 < size; ++rank) {
                job.compute(rank, 1e-6);
                job.message(rank, rank + 1, 8, transfer_s(rank, rank + 1) / 10);
            }
        job.allreduce(1e-6);
    }
    return job;
}

} // namespace

TEST_CASE("mpi-rank-order: pairs on different hosts are to be brought together, and what that saves") {
    SyntheticJob job = pairs(8, 4, [](int rank) { return rank / 4; });
    Diagnosed made(job);
    const auto findings = made.findings("mpi-rank-order");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(number(finding, "leaving_fraction") > 0.99);
    CHECK(number(finding, "leaving_fraction_reordered") < 0.01);
    CHECK(finding.title.find("leave their host") != std::string::npos);
    CHECK(finding.advice.at(0).applies == "launch");
    SyntheticJob cured = pairs(8, 4, [](int rank) { return rank / 2 % 2; });
    Diagnosed after(cured);
    const double saved_s = made.run.mpi_jobs.at(0).elapsed_s - after.run.mpi_jobs.at(0).elapsed_s;
    CHECK(number(finding, "saved_seconds") > 0.3 * saved_s); // half of the ranks send only, and wait at the collective instead
    CHECK(number(finding, "saved_seconds") <= 1.05 * saved_s);
}

TEST_CASE("mpi-rank-order: an order that is right already, and an even matrix, get no finding") {
    SyntheticJob right = pairs(8, 1, [](int rank) { return rank / 4; });
    CHECK(Diagnosed(right).findings("mpi-rank-order").empty());
    SyntheticJob even(6, [](int rank) { return rank / 3; });
    for (int step = 0; step < 50; ++step)
        for (int from = 0; from < 6; ++from)
            for (int to = 0; to < 6; ++to)
                if (from != to) {
                    even.compute(from, kWork_s / 10);
                    even.message(from, to, kBytes, from / 3 == to / 3 ? kWithin_s : kBetween_s);
                }
    CHECK(Diagnosed(even).findings("mpi-rank-order").empty());
}

TEST_CASE("mpi-rank-order: never without the measured cost of both kinds of messages, nor of a job that is known in part") {
    SyntheticJob job = pairs(8, 4, [](int rank) { return rank / 4; });
    Diagnosed made(job);
    REQUIRE(made.findings("mpi-rank-order").size() == 1);
    model::MpiJob& of = made.run.mpi_jobs.at(0);
    for (bool* known : {&of.within_host.known, &of.between_hosts.known}) {
        *known = false;
        const auto noted = made.findings("mpi-rank-order"); // messages take a tenth of the time and more
        REQUIRE(noted.size() == 1);
        CHECK(noted[0].severity == Severity::info);
        CHECK(noted[0].gain.fraction == 0);
        CHECK(noted[0].cost.seconds == 0);
        *known = true;
    }
    of.ranks.pop_back();
    CHECK(made.findings("mpi-rank-order").empty());
}

TEST_CASE("mpi-rank-order: messages that take as long within a host as between them are left alone") {
    SyntheticJob job = pairs(8, 4, [](int rank) { return rank / 4; });
    Diagnosed made(job);
    made.run.mpi_jobs.at(0).between_hosts = made.run.mpi_jobs.at(0).within_host;
    CHECK(made.findings("mpi-rank-order").empty());
}
