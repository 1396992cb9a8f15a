// Records of MPI as the model of one rank tells them.
#include "trace_test.h"

#include <catch2/catch.hpp>

using namespace plumb;
using namespace plumb::trace;

namespace {

// A counter that runs three times as fast as the clock.
MpiRank rank_of_two(SyntheticTrace& trace) {
    MpiRank record{};
    record.library = static_cast<uint32_t>(MpiLibrary::mpich);
    record.rank = 1;
    record.size = 2;
    record.library_version = trace.text("MPICH 4");
    record.job = trace.text("job-7");
    record.first_ticks = 30'000;
    record.first_ns = 2'000;
    record.last_ticks = 60'000;
    record.last_ns = 12'000;
    record.init_begin_ns = 1'500;
    record.init_end_ns = 2'000;
    record.finalize_begin_ns = 11'000;
    record.mpi_ticks = 3'000;
    record.collectives = 9;
    record.collective_stride = 2;
    return record;
}

MpiSite allreduce(SyntheticTrace& trace, uint32_t id) {
    MpiSite record{};
    record.id = id;
    record.kind = kMpiCollectiveCall | kMpiSynchronising;
    record.call = trace.text("MPI_Allreduce");
    record.path = trace.node(0, 0x4000);
    record.comm = 1;
    record.calls = 9;
    record.ticks = 2'700;
    record.longest_ticks = 600;
    record.first_ticks = 33'000;
    record.last_ticks = 57'000;
    record.size_histogram[4] = 9;
    return record;
}

} // namespace

TEST_CASE("a rank's calls in nanoseconds, whatever comes first in its file") {
    SyntheticTrace trace = shim_trace();
    trace.add(allreduce(trace, 1), kPid + 1);
    MpiComm comm{};
    comm.id = 1;
    comm.flags = kMpiCommWorld;
    comm.group_hash = 77;
    comm.size = 2;
    comm.rank = 1;
    comm.name = trace.text("grid");
    trace.add(comm);
    MpiPeer peer{};
    peer.direction = static_cast<uint32_t>(MpiDirection::received);
    peer.messages = 5;
    peer.bytes = 50;
    trace.add(peer);
    trace.add(rank_of_two(trace));
    const model::Run run = run_of(trace);
    REQUIRE(run.processes.size() == 1);
    REQUIRE(run.processes[0].mpi);
    const model::MpiProcess& mpi = *run.processes[0].mpi;
    CHECK(mpi.library == model::MpiProcess::Library::mpich);
    CHECK(mpi.library_version == "MPICH 4");
    CHECK(mpi.job == "job-7");
    CHECK(mpi.rank == 1);
    CHECK(mpi.size == 2);
    CHECK(mpi.ticks_per_ns == Approx(3));
    CHECK(mpi.mpi_ns == 1'000);
    CHECK(mpi.collective_stride == 2);
    CHECK(mpi.message_stride == 1); // 0 would divide
    CHECK(mpi.file == "synthetic");
    REQUIRE(mpi.sites.size() == 1);
    CHECK(mpi.sites[0].call == "MPI_Allreduce");
    CHECK(mpi.sites[0].time_ns == 900);
    CHECK(mpi.sites[0].longest_ns == 200);
    CHECK(mpi.sites[0].first_ns == 3'000);
    CHECK(mpi.sites[0].last_ns == 11'000);
    CHECK(mpi.sites[0].sizes[4] == 9);
    CHECK(run.processes[0].threads[mpi.sites[0].thread].tid == kPid + 1);
    CHECK(run.processes[0].paths[mpi.sites[0].path].address == 0x4000);
    REQUIRE(mpi.comms.size() == 1);
    CHECK(mpi.comms[0].world);
    CHECK(mpi.comms[0].name == "grid");
    REQUIRE(mpi.peers.size() == 1);
    CHECK(mpi.peers[0].direction == model::MpiPeer::Direction::received);
    CHECK(mpi.peers[0].bytes == 50);
}

TEST_CASE("a program without MPI is no rank; one that died in MPI_Init is one without a number") {
    SyntheticTrace without = shim_trace();
    CHECK_FALSE(run_of(without).processes[0].mpi);
    SyntheticTrace died = shim_trace();
    MpiRank record = rank_of_two(died);
    record.rank = -1;
    record.last_ticks = record.first_ticks; // one moment tells no rate
    record.last_ns = record.first_ns;
    died.add(record);
    const model::Run run = run_of(died);
    REQUIRE(run.processes[0].mpi);
    CHECK(run.processes[0].mpi->rank == -1);
    CHECK(run.processes[0].mpi->ticks_per_ns == 1);
}

TEST_CASE("which thread ended a process; abort() may have been caught, an exec may have failed") {
    for (const EndKind kind : {EndKind::exit, EndKind::abort, EndKind::none}) {
        SyntheticTrace trace = shim_trace();
        trace.add(rank_of_two(trace));
        ProcessEnd end{};
        end.kind = static_cast<uint32_t>(kind);
        end.time_ns = 20'000;
        trace.add(end, kPid + 7);
        const model::Run run = run_of(trace);
        CHECK(run.processes[0].ending_tid == (kind == EndKind::exit ? kPid + 7 : 0));
        CHECK(run.processes[0].end_seen == (kind == EndKind::exit));
    }
}

TEST_CASE("damaged MPI records stay within bounds") {
    SyntheticTrace trace = shim_trace();
    MpiRank record = rank_of_two(trace);
    SECTION("a rank beyond its size") {
        record.rank = 2;
        trace.add(record);
        CHECK(run_of(trace).processes[0].mpi->rank == -1);
    }
    SECTION("a negative size") {
        record.size = -5;
        trace.add(record);
        CHECK(run_of(trace).processes[0].mpi->size == 0);
    }
    SECTION("a counter that runs backwards, and times beyond all bounds") {
        record.last_ticks = 1;
        trace.add(record);
        MpiSite site = allreduce(trace, 1);
        site.ticks = site.longest_ticks = site.last_ticks = UINT64_MAX;
        trace.add(site);
        const model::Run run = run_of(trace);
        CHECK(run.processes[0].mpi->ticks_per_ns == 1);
        REQUIRE(run.processes[0].mpi->sites.size() == 1);
        CHECK(run.processes[0].mpi->sites[0].time_ns <= uint64_t{9'000'000'000'000'000'000});
    }
}
