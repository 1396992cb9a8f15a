// Each diagnosis of MPI with a job that has the problem, and with one that has not.
#include "diagnosed_job.h"
#include "diagnoses/mpi/mpi_metrics.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>
#include <utility>

using namespace plumb;
using plumb::testing::Diagnosed;
using plumb::testing::kExtra;
using plumb::testing::kWork;
using plumb::testing::SyntheticJob;

namespace {

SyntheticJob steps(int size, double work_s, int late, double extra_s, double operation_s = 1e-5) {
    SyntheticJob job(size);
    for (int step = 0; step < 100; ++step) {
        job.compute_all(work_s);
        if (late >= 0)
            job.compute(late, extra_s);
        job.allreduce(operation_s);
    }
    return job;
}

double number(const Finding& finding, const char* key) { return std::get<double>(finding.evidence.at(key)); }

} // namespace

TEST_CASE("mpi-late-rank names the rank, the line of its extra work, and what the job would gain") {
    SyntheticJob job = steps(4, 0.010, 2, 0.004);
    Diagnosed made(job);
    for (int rank = 0; rank < 4; ++rank) {
        made.sample(rank, kWork, 1.0);
        made.sample(rank, SyntheticJob::call_address("MPI_Allreduce"), rank == 2 ? 0.001 : 0.4); // spins
    }
    made.sample(2, kExtra, 0.4);
    const auto findings = made.findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    const Finding& finding = findings[0];
    CHECK(finding.severity == Severity::high);
    CHECK(finding.subject.kind == "rank");
    CHECK(finding.subject.name == "2");
    CHECK(std::get<std::string>(finding.subject.details.at("reason")) == "computing");
    CHECK(finding.cost.seconds == Approx(0.4));
    REQUIRE(finding.where.size() == 1);
    CHECK(finding.where[0].line == 20);
    CHECK(finding.title.find("app.c:20") != std::string::npos);
    CHECK(made.findings("mpi-collective-wait").empty()); // the same seconds
}

TEST_CASE("mpi-late-rank: without a known cause there is no finding") {
    SyntheticJob job = steps(4, 0.010, 2, 0.004);
    Diagnosed made(job);
    model::MpiLateness& lateness = made.run.mpi_jobs.at(0).ranks.at(2).lateness;
    lateness.other_s = 0.6 * lateness.sum_s(); // more than any of the known ones
    lateness.computing_s *= 0.4;
    CHECK(made.findings("mpi-late-rank").empty());
}

TEST_CASE("mpi-late-rank: nobody is late where all are alike, or where it is another one each time") {
    SyntheticJob alike = steps(4, 0.010, -1, 0);
    CHECK(Diagnosed(alike).findings("mpi-late-rank").empty());
    SyntheticJob turns(4);
    for (int step = 0; step < 100; ++step) {
        turns.compute_all(0.010);
        turns.compute(step % 4, 0.004);
        turns.allreduce();
    }
    Diagnosed made(turns);
    CHECK(made.findings("mpi-late-rank").empty());
    const auto waits = made.findings("mpi-collective-wait"); // but all wait
    REQUIRE(waits.size() == 1);
    CHECK(waits[0].cost.seconds == Approx(0.3));
    CHECK(waits[0].cost.how == "measured");
    CHECK(waits[0].where[0].line == 100);
    CHECK(waits[0].evidence.count("ranks_that_compute_most") == 0);
}

TEST_CASE("mpi-late-rank: a late rank that spins in MPI computes no more than the others there") {
    constexpr uint64_t kLibrary = 0x7000000, kProgress = kLibrary + 0x100;
    const auto where_with = [&](double extra_s) {
        SyntheticJob job = steps(4, 0.010, 2, 0.004);
        Diagnosed made(job);
        for (int rank = 0; rank < 4; ++rank) {
            model::Process& process = made.run.processes[static_cast<size_t>(rank)];
            process.modules.push_back({.path = "/usr/lib/libmpi.so.40", .build_id = {}, .start = kLibrary, .end = kLibrary + 0x10000});
            made.sample(rank, kWork, 1.0);
            process.paths.push_back({.parent = static_cast<uint32_t>(process.paths.size() - 1), .address = kProgress, .leaf = true});
            const auto path = static_cast<uint32_t>(process.paths.size() - 1);
            const uint64_t samples = rank == 2 ? 400 : 10; // below the line of the work
            process.samples.push_back({0, path, samples, samples * 1'000'000, 0});
        }
        made.sample(2, kExtra, extra_s);
        const auto findings = made.findings("mpi-late-rank");
        return findings.empty() ? std::vector<Location>() : findings[0].where;
    };
    const auto spins = where_with(0.4);
    REQUIRE(spins.size() == 1);
    CHECK(spins[0].line == 20);
    const auto no_extra = where_with(0);
    REQUIRE(!no_extra.empty());
    for (const Location& place : no_extra)
        CHECK(place.line != 10); // nothing says that it works more at the line from which it called
}

TEST_CASE("mpi-late-rank: samples over many lines, none of which is certain, still tell of the same work") {
    const auto made_with = [](double extra_s) {
        SyntheticJob job = steps(2, 0.010, 1, extra_s);
        Diagnosed made(job);
        for (uint64_t line = 0; line < 100; ++line) {
            const uint64_t address = 0x700000 + 16 * line;
            made.resolver.frames[address] = {{"interpret", "eval.c", static_cast<uint32_t>(1000 + line), "python", false}};
            made.sample(0, address, 0.003);
            made.sample(1, address, 0.003 * (1 + extra_s / 0.010));
        }
        return made.findings("mpi-late-rank");
    };
    SyntheticJob alone = steps(2, 0.010, 1, 0.010);
    const auto without = Diagnosed(alone).findings("mpi-late-rank"); // no samples: without this rank's extra work
    const auto spread = made_with(0.010);
    REQUIRE((without.size() == 1 && spread.size() == 1));
    CHECK(spread[0].cost.seconds == Approx(without[0].cost.seconds / 2)); // divided between both
    CHECK(spread[0].gain.how.find("divided evenly") != std::string::npos);
    CHECK(made_with(0.002).empty()); // so little may have other causes: lines would have shown it
}

TEST_CASE("mpi-late-rank: receives tell it where there are no collectives") {
    SyntheticJob ring(4);
    for (int step = 0; step < 50; ++step) {
        ring.compute_all(0.010);
        ring.compute(0, 0.005);
        for (int rank = 1; rank < 4; ++rank)
            ring.message(0, rank, 64, 1e-6);
        for (int rank = 1; rank < 4; ++rank)
            ring.message(rank, 0, 64, 1e-6);
    }
    const auto findings = Diagnosed(ring).findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "0");
    CHECK(findings[0].cost.seconds == Approx(0.25).epsilon(0.05));
}

TEST_CASE("mpi-late-rank: messages tell it where ranks come to collectives together, but not where they wait in turn") {
    SyntheticJob late(2), in_turn(2);
    for (int step = 0; step < 50; ++step) {
        late.compute(1, 0.010);
        late.message(1, 0, 64, 1e-6);
        for (int from = 0; from < 2; ++from) {
            in_turn.compute(from, 0.010);
            in_turn.message(from, 1 - from, 64, 1e-6);
        }
        if (step % 10 == 9)
            for (SyntheticJob* job : {&late, &in_turn})
                job->allreduce();
    }
    const auto findings = Diagnosed(late).findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].subject.name == "1");
    CHECK(findings[0].cost.seconds == Approx(0.5).epsilon(0.05));
    CHECK(Diagnosed(in_turn).findings("mpi-late-rank").empty());
}

TEST_CASE("mpi-serialised: two ranks that work in turns, by messages alone and before collectives") {
    SyntheticJob token(2), sweep(2), piecewise(2), late(2);
    for (int step = 0; step < 50; ++step) {
        for (int from = 0; from < 2; ++from) {
            token.compute(from, 0.010);
            token.message(from, 1 - from, 64, 1e-6);
        }
        sweep.compute(0, 0.010);
        sweep.message(0, 1, 64, 1e-6);
        sweep.compute(1, 0.010);
        sweep.allreduce();
        piecewise.compute_all(0.010); // each works before it sends
        piecewise.message(0, 1, 64, 1e-6);
        piecewise.allreduce();
        late.compute(0, 0.004); // but the other works at the same time
        late.compute_all(0.010);
        late.message(0, 1, 64, 1e-6);
        late.allreduce();
    }
    for (SyntheticJob* job : {&token, &sweep}) {
        Diagnosed made(*job);
        const auto findings = made.findings("mpi-serialised");
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].title.find("work in turns") != std::string::npos);
        CHECK(findings[0].cost.fraction == Approx(0.5).epsilon(0.05));
        CHECK(findings[0].where.at(0).line == 102); // MPI_Recv
        CHECK(made.findings("mpi-late-rank").empty());
    }
    CHECK(Diagnosed(piecewise).findings("mpi-serialised").empty());
    CHECK(Diagnosed(late).findings("mpi-serialised").empty());
}

TEST_CASE("mpi-late-rank: a larger part of the same work gains what dividing it gains") {
    SyntheticJob job = steps(2, 0.010, 1, 0.010);
    Diagnosed made(job);
    made.sample(0, kWork, 1.0);
    made.sample(1, kWork, 2.0);
    const auto findings = made.findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(0.5).epsilon(0.05));
    CHECK(findings[0].gain.how.find("divided evenly") != std::string::npos);
}

TEST_CASE("mpi-late-rank: the same lines a little longer may be a slower CPU, and no certain gain") {
    SyntheticJob job = steps(2, 0.010, 1, 0.002);
    Diagnosed made(job);
    made.sample(0, kWork, 1.0);
    made.sample(1, kWork, 1.2);
    const auto findings = made.findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::info);
    CHECK(findings[0].title.find("or a slower CPU") != std::string::npos);
}

TEST_CASE("mpi-late-rank: what messages alone show must be twice as much on a CPU; time without a CPU is no work") {
    const auto severity = [](double extra_share, double delayed_s) {
        SyntheticJob job(2);
        for (int step = 0; step < 50; ++step) {
            job.compute_all(0.010);
            job.compute(1, 0.010 * extra_share);
            job.message(1, 0, 64, 1e-6);
            if (step % 10 == 9)
                job.allreduce();
        }
        Diagnosed made(job);
        made.run.mpi_jobs.at(0).ranks[1].run_delay_s = delayed_s;
        const std::vector<Finding> findings = made.findings("mpi-late-rank");
        return findings.empty() ? Severity::info : findings[0].severity;
    };
    CHECK(severity(1.1, 0) > Severity::info);
    CHECK(severity(0.9, 0) == Severity::info);
    CHECK(severity(1.1, 0.1) == Severity::info); // 90 % more
}

TEST_CASE("mpi-small-messages: messages with work in between are not to be joined") {
    SyntheticJob job(2);
    for (int step = 0; step < 2000; ++step) {
        job.compute_all(0.0001);
        job.message(0, 1, 64, 30e-6);
        job.message(1, 0, 64, 30e-6);
    }
    CHECK(Diagnosed(job).findings("mpi-small-messages").empty());
}

TEST_CASE("mpi-collective-wait: ranks of unequal work, and operations that cost much themselves") {
    SyntheticJob unequal(4);
    for (int step = 0; step < 100; ++step) {
        for (int rank = 0; rank < 4; ++rank)
            unequal.compute(rank, rank < 2 ? 0.010 : 0.014);
        unequal.allreduce();
    }
    const auto findings = Diagnosed(unequal).findings("mpi-collective-wait");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].cost.seconds == Approx(0.2));
    CHECK(findings[0].gain.fraction == Approx(0.2 / 1.4).epsilon(0.01));
    CHECK(std::get<std::vector<int64_t>>(findings[0].evidence.at("ranks_that_compute_most")) == std::vector<int64_t>{2, 3});
    SyntheticJob slow = steps(4, 0.010, -1, 0, 0.002);
    const auto operations = Diagnosed(slow).findings("mpi-collective-wait");
    REQUIRE(operations.size() == 1);
    CHECK(operations[0].cost.seconds == Approx(0.2));
    CHECK(operations[0].title.find("without waiting") != std::string::npos);
    SyntheticJob clean = steps(4, 0.010, -1, 0);
    CHECK(Diagnosed(clean).findings("mpi-collective-wait").empty());
}

TEST_CASE("mpi-collective-wait: what may be chance, and what the data takes, is not certain to be gained") {
    SyntheticJob noisy(4); // each rank in turn takes longer, as by interrupts
    for (int step = 0; step < 100; ++step) {
        noisy.compute_all(0.010);
        noisy.compute(step % 4, 0.0012);
        noisy.allreduce();
    }
    const auto noise = Diagnosed(noisy).findings("mpi-collective-wait");
    REQUIRE(noise.size() == 1);
    CHECK(noise[0].cost.fraction > 0.05);
    CHECK(noise[0].severity == Severity::info);
    SyntheticJob moved = steps(4, 0.010, -1, 0, 0.002);
    Diagnosed made(moved);
    for (model::MpiCallSite& site : made.run.mpi_jobs[0].sites)
        site.sent_bytes = site.calls << 20;
    const auto exchange = made.findings("mpi-collective-wait");
    REQUIRE(exchange.size() == 1);
    CHECK(exchange[0].cost.fraction > 0.1);
    CHECK(exchange[0].severity == Severity::info);
}

TEST_CASE("mpi-serialised: a pipeline without overlap, and a halo exchange") {
    SyntheticJob pipeline(6);
    for (int step = 0; step < 20; ++step) {
        for (int rank = 0; rank < 6; ++rank) {
            if (rank > 0)
                pipeline.message(rank - 1, rank, 8, 1e-6);
            pipeline.compute(rank, 0.010);
        }
        pipeline.allreduce();
    }
    Diagnosed made(pipeline);
    const auto findings = made.findings("mpi-serialised");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::high);
    CHECK(findings[0].where[0].line == 102); // MPI_Recv
    // A step takes 60 ms and could take 10; of the 50 the wait for rank 0's own work is nobody's chain.
    CHECK(findings[0].cost.seconds > 0.7 * 20 * 0.05);
    CHECK(findings[0].cost.seconds <= 20 * 0.05);
    SyntheticJob halo(6);
    for (int step = 0; step < 50; ++step) {
        halo.compute_all(0.010);
        for (int rank = 0; rank < 6; ++rank)
            halo.message(rank, (rank + 1) % 6, 8, 1e-6);
        halo.allreduce();
    }
    CHECK(Diagnosed(halo).findings("mpi-serialised").empty());
}

TEST_CASE("mpi-small-messages: what joining them would save, against the joined job") {
    const auto exchange = [](int messages, uint64_t bytes, double work_s = 0) {
        SyntheticJob job(2);
        for (int step = 0; step < 200; ++step) {
            job.compute_all(0.001);
            for (int i = 0; i < messages; ++i) {
                job.message(0, 1, bytes, 10e-6 + static_cast<double>(bytes) * 1e-9);
                job.message(1, 0, bytes, 10e-6 + static_cast<double>(bytes) * 1e-9);
                if (work_s > 0)
                    job.compute_all(work_s);
            }
            job.allreduce();
        }
        return job;
    };
    SyntheticJob many = exchange(20, 64), joined = exchange(1, 20 * 64), large = exchange(2, 1 << 20);
    Diagnosed made(many);
    const auto findings = made.findings("mpi-small-messages");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::high);
    CHECK(number(findings[0], "messages_to_join_count") == Approx(20));
    CHECK(number(findings[0], "predicted_seconds") ==
          Approx(static_cast<double>(Diagnosed(joined).run.wall_ns()) * 1e-9).epsilon(0.1));
    CHECK(Diagnosed(joined).findings("mpi-small-messages").empty());
    CHECK(Diagnosed(large).findings("mpi-small-messages").empty());
    // What is worked out in between, the next message may carry.
    SyntheticJob blocks = exchange(20, 64, 15e-6), hardly = exchange(20, 64, 2e-6);
    CHECK(Diagnosed(blocks).findings("mpi-small-messages").empty());
    CHECK(Diagnosed(hardly).findings("mpi-small-messages").size() == 1);
}

namespace {

void check_bound(const std::vector<Finding>& findings, bool bound) {
    REQUIRE(!findings.empty());
    for (const Finding& finding : findings) {
        INFO(finding.id << ": " << finding.title);
        CHECK((finding.cost.how == "bound") == bound);
        CHECK((finding.severity > Severity::low) != bound);
        CHECK(finding.cost.seconds > 0);
        CHECK((finding.gain.fraction == 0) == bound);
        CHECK(finding.evidence.contains("why_bound") == bound);
        CHECK((finding.gain.how.find("not known:") == 0) == bound);
        CHECK((!finding.advice.empty() && finding.advice[0].what.find("a CPU, then measure again") != std::string::npos) == bound);
    }
}

} // namespace

TEST_CASE("where ranks had no CPUs, what they seem to cost one another is a bound") {
    SyntheticJob late = steps(4, 0.010, 2, 0.004), slow = steps(4, 0.010, -1, 0, 0.002);
    SyntheticJob pipeline(6), many(2), unequal(4);
    for (int step = 0; step < 100; ++step) {
        for (int rank = 0; rank < 6; ++rank) {
            if (rank > 0)
                pipeline.message(rank - 1, rank, 8, 1e-6);
            pipeline.compute(rank, 0.010);
        }
        pipeline.allreduce();
        many.compute_all(0.001);
        for (int i = 0; i < 20; ++i) {
            many.message(0, 1, 64, 10e-6);
            many.message(1, 0, 64, 10e-6);
        }
        many.allreduce();
        for (int rank = 0; rank < 4; ++rank)
            unequal.compute(rank, rank < 2 ? 0.010 : 0.014);
        unequal.allreduce();
    }
    const std::pair<SyntheticJob*, const char*> problems[] = {{&late, "mpi-late-rank"},
                                                              {&slow, "mpi-collective-wait"},
                                                              {&unequal, "mpi-collective-wait"},
                                                              {&pipeline, "mpi-serialised"},
                                                              {&many, "mpi-small-messages"}};
    for (const auto& [job, id] : problems) {
        Diagnosed made(*job);
        check_bound(made.findings(id), false);
        made.starve(0.19);
        check_bound(made.findings(id), false);
        made.starve(0.21);
        check_bound(made.findings(id), true);
    }
}

TEST_CASE("mpi-late-rank: one rank that lacks a CPU is a finding, all of them are not") {
    SyntheticJob job = steps(2, 0.010, 1, 0.005);
    Diagnosed made(job);
    made.starve(0.9, 1);
    model::MpiRankRow& late = made.run.mpi_jobs[0].ranks[1];
    late.lateness.starved_s = std::exchange(late.lateness.computing_s, 0);
    check_bound(made.findings("mpi-late-rank"), false);
    const auto starved_ns = static_cast<uint64_t>(late.lateness.starved_s * 1e9);
    made.run.hosts.resize(std::max<size_t>(made.run.hosts.size(), late.host + 1));
    made.run.hosts[late.host].recorder_cpu_ns = starved_ns / 10;
    check_bound(made.findings("mpi-late-rank"), false);
    made.run.hosts[late.host].recorder_cpu_ns = starved_ns; // plumb itself was in the way
    CHECK(made.findings("mpi-late-rank").empty());
    made.run.hosts[late.host].recorder_cpu_ns = 0;
    made.starve(0.5);
    check_bound(made.findings("mpi-late-rank"), true);
}

TEST_CASE("mpi-late-rank: time that took no CPU has no line, but the call it was late to") {
    SyntheticJob job = steps(4, 0.010, 1, 0.005);
    Diagnosed made(job);
    model::MpiRankRow& late = made.run.mpi_jobs[0].ranks[1];
    CHECK(late.late_call == "MPI_Allreduce");
    CHECK(late.late_path != 0);
    late.lateness.blocked_s = std::exchange(late.lateness.computing_s, 0);
    const std::vector<Finding> findings = made.findings("mpi-late-rank");
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.find("it sleeps or is blocked outside MPI, before MPI_Allreduce at ") != std::string::npos);
    CHECK(std::get<std::string>(findings[0].subject.details.at("reason")) == "blocked");
    CHECK(findings[0].evidence.contains("late_blocked_seconds"));

    // Looks say in what, those of its time between MPI_Init and MPI_Finalize.
    model::Process& process = made.run.processes[late.process];
    process.paths.push_back({.parent = 0, .address = kExtra, .leaf = true});
    model::BlockedSite site;
    site.thread = late.thread;
    site.path = static_cast<uint32_t>(process.paths.size() - 1);
    site.system_call = SYS_fsync;
    site.looks = 20;
    site.time_ns = static_cast<uint64_t>(1e9 * late.lateness.blocked_s);
    process.mpi->init_end_ns = made.run.begin_ns + 1'000'000;
    site.first_ns = made.run.begin_ns;
    site.last_ns = site.first_ns + 900'000;
    process.blocked = {site};
    CHECK(made.findings("mpi-late-rank").at(0).title == findings[0].title);
    process.blocked[0].last_ns += 20'000'000;
    CHECK(made.findings("mpi-late-rank").at(0).title.find("it is blocked outside MPI, mostly in fsync, at app.c:20") !=
          std::string::npos);
}

TEST_CASE("POP metrics multiply up") {
    SyntheticJob job = steps(4, 0.010, 2, 0.004, 0.001);
    const Diagnosed made(job);
    REQUIRE(main_mpi_job(made.run));
    const auto metrics = mpi_metrics_of(*main_mpi_job(made.run));
    const auto value = [&](const std::string& name) {
        const auto found = std::ranges::find(metrics, name, &Metric::name);
        REQUIRE(found != metrics.end());
        return found->value;
    };
    CHECK(value("load balance") == Approx(1.1 / 1.4));
    CHECK(value("communication efficiency") == Approx(1.4 / 1.5));
    CHECK(value("transfer efficiency") == Approx(1.4 / 1.5));
    CHECK(value("serialisation efficiency") == Approx(1));
    CHECK(value("parallel efficiency") == Approx(value("load balance") * value("communication efficiency")));
    CHECK(value("MPI fraction") == Approx(0.4 / 1.5));
    CHECK(value("least cycle") == Approx(0.015));
    SyntheticJob alone = steps(1, 0.010, -1, 0);
    CHECK_FALSE(main_mpi_job(Diagnosed(alone).run));
}
