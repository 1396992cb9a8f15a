// Who waits for whom among ranks that did not end MPI, by models that were made up.
#include "analyses/analyses.h"
#include "diagnoses/registry.h"
#include "model/call_paths.h"
#include "replay/pending/pending.h"
#include "replay/events/rank_time.h"
#include "support/error.h"
#include "synthetic_run.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <plumb/trace_format.h>

using namespace plumb;
using State = model::MpiPendingRank::State;

namespace {

struct MadeUp {
    explicit MadeUp(int size) {
        run.hosts.emplace_back();
        run.end_ns = 10'000'000'000;
        for (int rank = 0; rank < size; ++rank) {
            model::Process& process = run.processes.emplace_back();
            process.rank = rank;
            process.pid = static_cast<uint32_t>(rank + 1);
            process.end_ns = run.end_ns;
            process.paths.resize(1);
            process.threads.emplace_back().tid = static_cast<uint32_t>(rank + 1);
            model::MpiProcess& mpi = process.mpi.emplace();
            mpi.rank = rank;
            mpi.size = size;
            mpi.shows_calls = true;
            model::MpiComm& world = mpi.comms.emplace_back();
            world.id = world.group_hash = 1;
            world.size = static_cast<uint32_t>(size);
            world.rank = rank;
            world.first = 0;
            world.world = true;
        }
    }

    model::MpiProcess& mpi(int rank) { return *run.processes[static_cast<size_t>(rank)].mpi; }
    void inside(int rank, const char* call, uint32_t kind, int source, int source_tag, int target, int target_tag, uint64_t begin_s) {
        mpi(rank).inside.push_back({.call = call, .kind = kind, .comm = 1, .source = source, .source_tag = source_tag,
                                    .target = target, .target_tag = target_tag, .begin_ns = begin_s * 1'000'000'000});
    }
    void receives(int rank, int from, int tag, uint64_t begin_s = 1) {
        inside(rank, "MPI_Recv", trace::kMpiReceive, from, tag, -1, -1, begin_s);
    }
    void sends(int rank, int to, int tag) { inside(rank, "MPI_Send", trace::kMpiSend, -1, -1, to, tag, 1); }
    void reduces(int rank) {
        inside(rank, "MPI_Allreduce", trace::kMpiCollectiveCall | trace::kMpiSynchronising, -1, -1, -1, -1, 2);
    }
    void sent(int from, int to, uint64_t messages) {
        mpi(from).peers.push_back({.peer = to, .direction = model::MpiPeer::Direction::sent, .messages = messages});
    }

    void reaches(int rank, uint32_t kind = trace::kMpiCollectiveCall) { // its last call, of long ago
        mpi(rank).sites.push_back({.id = 1, .call = "MPI_Bcast", .kind = kind, .comm = 1, .calls = 0, .last_ns = 1'000'000'000});
    }
    void ends(int rank, double at_s, std::optional<int> wait_status = {}) {
        model::Process& process = run.processes[static_cast<size_t>(rank)];
        process.end_ns = static_cast<uint64_t>(at_s * 1e9);
        process.end_seen = true;
        process.wait_status = wait_status;
    }

    // As the report tells it.
    std::vector<Finding> findings() {
        model::MpiJob& job = run.mpi_jobs.emplace_back();
        job.pending = find();
        model::MpiCommRow& world = job.comms.emplace_back();
        world.world = true;
        testing::TableResolver resolver;
        model::CallPaths paths(run, resolver);
        for (const DiagnosisEntry& entry : diagnosis_registry())
            if (std::string_view(entry.id) == "mpi-pending")
                return findings_of(entry, {run, paths, analyses_of(paths)});
        return {};
    }

    model::MpiPending find() {
        const auto jobs = replay::find_jobs(run);
        REQUIRE(jobs.size() == 1);
        return replay::find_pending(run, jobs[0], [](const std::string&) -> trace::TraceReader { throw Error("there are no files"); });
    }

    model::Run run;
};

} // namespace

TEST_CASE("ranks that receive from one another in a ring are deadlocked") {
    MadeUp job(4);
    job.receives(0, 1, 7);
    job.receives(1, 2, 7, 3);
    job.receives(2, 0, 7);
    job.receives(3, 0, 7); // waits for the ring, is none of it
    const auto pending = job.find();
    CHECK(pending.ring == std::vector<uint32_t>{0, 1, 2});
    CHECK(pending.ring_proven);
    CHECK(pending.ranks[1].for_s == Approx(7));
}

TEST_CASE("a message on its way is no deadlock") {
    MadeUp job(2);
    job.receives(0, 1, 7, 10);
    job.receives(1, 0, 7, 10);
    SECTION("sent and not received yet") { job.sent(0, 1, 1); }
    SECTION("a request of the sender's") {
        job.mpi(0).requests.push_back({.site = 1, .sent = true, .peer = 1, .tag = 7, .comm = 1});
    }
    CHECK(job.find().ring.empty());
}

TEST_CASE("sends that wait for one another's receives are a ring, unless a receive is under way") {
    MadeUp job(2);
    job.sends(0, 1, 3);
    job.sends(1, 0, 3);
    CHECK(job.find().ring_proven);
    job.mpi(1).requests.push_back({.site = 1, .peer = 0, .tag = 3, .comm = 1});
    CHECK(job.find().ring.empty());
}

TEST_CASE("the members that did not come to a collective are missing, those that passed it are not") {
    MadeUp job(4);
    job.reduces(0);
    job.reduces(1);
    job.mpi(3).sites.push_back({.id = 1, .call = "MPI_Allreduce", .kind = trace::kMpiCollectiveCall, .comm = 1, .calls = 1, .last_ns = 5});
    const auto pending = job.find();
    REQUIRE(pending.collectives.size() == 1);
    CHECK(pending.collectives[0].inside == std::vector<uint32_t>{0, 1});
    CHECK(pending.collectives[0].missing == std::vector<uint32_t>{2});
    CHECK(pending.ranks[2].state == State::outside);
    CHECK(pending.ring.empty());
}

TEST_CASE("a job whose ranks ended MPI, or that ended by itself, is not pending") {
    MadeUp job(2);
    job.mpi(0).finalize_end_ns = job.mpi(1).finalize_end_ns = 9;
    CHECK(job.find().ranks.empty());
    job.mpi(1).finalize_end_ns = 0;
    job.run.processes[1].shim_closed = true;
    CHECK(job.find().ranks.empty());
    job.mpi(1).aborted = true;
    const auto pending = job.find();
    REQUIRE(pending.ranks.size() == 1);
    CHECK(pending.finished == 1);
    CHECK(pending.ranks[0].state == State::ended);
    CHECK(pending.aborting == std::vector<uint32_t>{0});
}

TEST_CASE("who waits for a rank that called MPI_Abort is not missing it; who waits for another one is") {
    MadeUp job(4);
    job.reduces(0);
    job.reduces(1);
    job.inside(2, "MPI_Abort", trace::kMpiSetUp, -1, -1, -1, -1, 3);
    job.mpi(2).aborted = true;
    job.reduces(3);
    auto pending = job.find();
    CHECK(pending.aborting == std::vector<uint32_t>{2});
    CHECK(pending.ranks[2].call == "MPI_Abort");
    CHECK(pending.collectives.empty());
    job.mpi(3).inside.clear(); // it computes
    pending = job.find();
    REQUIRE(pending.collectives.size() == 1);
    CHECK(pending.collectives[0].inside == std::vector<uint32_t>{0, 1});
    CHECK(pending.collectives[0].missing == std::vector<uint32_t>{2, 3});
}

TEST_CASE("a call that a rank never came out of is time in MPI") {
    MadeUp job(1);
    model::Process& process = job.run.processes[0];
    process.threads.emplace_back();
    model::MpiProcess& mpi = job.mpi(0);
    mpi.init_end_ns = 1'000'000'000;
    mpi.sites.push_back({.call = "MPI_Init", .time_ns = 800'000'000});
    mpi.sites.push_back({.call = "MPI_Allreduce", .kind = trace::kMpiCollectiveCall, .time_ns = 500'000'000});
    const auto time = [&] { return replay::rank_time(job.run, process); };
    CHECK(time().mpi_s == Approx(0.5));
    CHECK(time().compute_s() == Approx(8.5));
    job.receives(0, 0, 7, 3);
    CHECK(time().elapsed_s == Approx(9));
    CHECK(time().mpi_s == Approx(7.5));
    CHECK(time().message_s == Approx(7));
    CHECK(time().compute_s() == Approx(1.5));
    SECTION("of another thread: it is the main one of MPI") {
        mpi.inside[0].thread = 1;
        CHECK(time().thread == 1);
        CHECK(time().mpi_s == Approx(7));
    }
    SECTION("MPI_Finalize is no time of the program's") {
        mpi.inside[0].call = "MPI_Finalize";
        mpi.finalize_begin_ns = 3'000'000'000;
        CHECK(time().elapsed_s == Approx(2));
        CHECK(time().compute_s() == Approx(1.5));
    }
    SECTION("whose beginning is its process's last sign of life") {
        process.end_ns = 2'500'000'000;
        CHECK(time().mpi_s == Approx(0.5));
    }
}

TEST_CASE("a rank that another thread ended is still inside of its call") {
    MadeUp job(2);
    job.receives(0, 1, 7);
    job.receives(1, 0, 7);
    for (model::Process& process : job.run.processes) {
        process.shim_closed = true;
        process.ending_tid = 99; // a helper of the library's, of which there is no record
    }
    CHECK(job.find().ring_proven);
    job.run.processes[0].ending_tid = job.run.processes[0].threads[0].tid;
    const auto pending = job.find();
    CHECK(pending.ring.empty());
    REQUIRE(pending.ranks.size() == 2);
    CHECK(pending.ranks[0].state == State::ended);
    CHECK(pending.ranks[1].state == State::inside);
    job.run.processes[0].ending_tid = job.run.processes[1].ending_tid = 0; // not known
    CHECK(job.find().ranks.empty());
}

TEST_CASE("the rank that ended first is named, not looked for in a branch") {
    MadeUp job(3);
    job.reduces(0);
    job.reaches(1);
    job.reduces(2);
    SECTION("killed by a signal, the others by the launcher's") {
        job.ends(1, 4, SIGKILL);
        job.ends(0, 4.01, SIGTERM);
        const auto findings = job.findings();
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].title ==
              "Rank 1 ended first, killed by signal 9 (SIGKILL) at 4.00 s, while ranks 0, 2 were in MPI_Allreduce");
        CHECK(findings[0].advice[0].what == "Find out who sent the signal");
        CHECK(findings[0].advice.size() == 2); // they had waited for two seconds
    }
    SECTION("nobody saw how, but long before the others") {
        for (const int rank : {0, 2})
            job.ends(rank, 3);
        job.ends(1, 2.5);
        const auto findings = job.findings();
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].title == "Rank 1 ended first, at 2.50 s (how is not recorded), while ranks 0, 2 were in MPI_Allreduce");
        CHECK_FALSE(findings[0].evidence.contains("signal_number"));
        CHECK(findings[0].advice.size() == 1);
    }
    SECTION("a crash, whenever its process was seen to have gone") {
        job.ends(1, 3.1, SIGSEGV);
        job.ends(0, 3, SIGTERM);
        CHECK(job.findings().at(0).title.starts_with("Rank 1 ended first, killed by signal 11 (SIGSEGV) at 3.10 s"));
    }
    SECTION("by itself") {
        job.ends(1, 3, 4 << 8);
        job.run.processes[1].shim_closed = true;
        job.run.processes[1].ending_tid = job.run.processes[1].pid;
        const auto findings = job.findings();
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].title.starts_with("Rank 1 ended first, by itself and without MPI_Finalize (exit status 4) at 3.00 s"));
        CHECK(findings[0].advice[0].what == "Let no rank end early");
    }
}

TEST_CASE("no rank ended first where all may have been ended together") {
    MadeUp job(3);
    job.reduces(0);
    job.reaches(1);
    job.reduces(2);
    SECTION("shortly after one another") {
        job.ends(1, 3);
        job.ends(0, 3.1);
        job.ends(2, 3.2);
    }
    SECTION("by the same signal") {
        job.ends(1, 3, SIGKILL);
        job.ends(0, 3.1, SIGKILL);
    }
    SECTION("one that was interrupted, another one whose last sign of life is older") {
        job.ends(1, 3, SIGINT);
        job.run.processes[0].end_ns = 2'900'000'000;
    }
    SECTION("nobody saw any of them end") { job.run.processes[1].end_ns = 2'000'000'000; }
    CHECK(job.find().ended_first == UINT32_MAX);
    CHECK(job.findings().at(0).title.starts_with("Ranks 0, 2 wait in MPI_Allreduce for rank 1, which is outside MPI"));
}

TEST_CASE("a member that ended just when the others began to wait for it need not be on another branch") {
    MadeUp job(2);
    job.reduces(0);
    job.reaches(1);
    job.ends(1, 2.05);
    job.ends(0, 2.1);
    CHECK(job.find().ended_first == UINT32_MAX);
    CHECK(job.findings().at(0).advice.at(0).what == "Find out why it ended");
}

TEST_CASE("ranks that waited for one another did so before one of them was killed") {
    MadeUp job(3);
    job.receives(0, 1, 7);
    job.receives(1, 0, 7);
    job.reduces(2);
    job.ends(0, 5, SIGKILL);
    const auto findings = job.findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].title.starts_with("Deadlock"));
    CHECK(job.find().ended_first == 0);
}
