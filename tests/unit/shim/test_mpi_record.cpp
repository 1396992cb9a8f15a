// MPI calls as the hooks tell them, and what stands in the trace behind them. The library is a fake.
#include "fake_mpi.h"
#include "fake_trace.h"
#include "record/mpi/rank.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <csetjmp>
#include <optional>
#include <set>
#include <string>
#include <thread>

using namespace plumb;
using namespace plumb::shim::mpi;
using shim::Guard;
using test::fake_trace;
using test::FakeMpi;

namespace {

constexpr uint32_t kSent = trace::kMpiMessageSent;
constexpr Handle kWorld = FakeMpi::kWorld, kReady = 0x6c000001;

const Function kSend = {"MPI_Send", trace::kMpiSend}, kRecv = {"MPI_Recv", trace::kMpiReceive},
               kIsend = {"MPI_Isend", trace::kMpiSend | trace::kMpiNonblocking},
               kIrecv = {"MPI_Irecv", trace::kMpiReceive | trace::kMpiNonblocking},
               kIsendrecv = {"MPI_Isendrecv", trace::kMpiSend | trace::kMpiReceive | trace::kMpiNonblocking},
               kWaitall = {"MPI_Waitall", trace::kMpiWait}, kIprobe = {"MPI_Iprobe", trace::kMpiPoll | trace::kMpiProbe},
               kTest = {"MPI_Test", trace::kMpiPoll | trace::kMpiWait}, kInit = {"MPI_Recv_init", trace::kMpiPersistent},
               kStart = {"MPI_Start", trace::kMpiPersistent},
               kBarrier = {"MPI_Barrier", trace::kMpiCollectiveCall | trace::kMpiSynchronising},
               kIbarrier = {"MPI_Ibarrier", trace::kMpiCollectiveCall | trace::kMpiNonblocking},
               kBcast = {"MPI_Bcast", trace::kMpiCollectiveCall | trace::kMpiFromRoot},
               kIscatter = {"MPI_Iscatter", trace::kMpiCollectiveCall | trace::kMpiFromRoot | trace::kMpiNonblocking},
               kGather = {"MPI_Gather", trace::kMpiCollectiveCall | trace::kMpiToRoot},
               kSplit = {"MPI_Comm_split", trace::kMpiSetUp}, kIdup = {"MPI_Comm_idup", trace::kMpiNonblocking};

// What a hook does, in a function of its own as a hook is.
template <class Told> __attribute__((noinline)) void hook(const Function& function, Told told, int result = 0) {
    Call call(function, PLUMB_CALLER_FRAME());
    if (call.returned(result))
        told(call);
}

void send(Handle comm, int32_t to, int32_t tag, uint64_t bytes) {
    hook(kSend, [=](Call& call) { call.message({comm, to, tag, bytes, kSent}); });
}
void receive(Handle comm, int32_t from, int32_t tag, uint64_t bytes, int32_t source, int32_t its_tag, uint64_t arrived) {
    hook(kRecv, [=](Call& call) {
        const Arrival arrival{source, its_tag, arrived, false};
        call.message({comm, from, tag, bytes, 0}, &arrival);
    });
}
void isend(Handle request, Handle comm, int32_t to, int32_t tag, uint64_t bytes) {
    hook(kIsend, [=](Call& call) { call.started(request, Message{comm, to, tag, bytes, kSent}); });
}
void irecv(Handle request, Handle comm, int32_t from, int32_t tag, uint64_t bytes) {
    hook(kIrecv, [=](Call& call) { call.started(request, Message{comm, from, tag, bytes, 0}); });
}
__attribute__((noinline)) void wait_all(const std::vector<uint32_t>& requests, const std::vector<Arrival>& arrivals) {
    Call call(kWaitall, PLUMB_CALLER_FRAME());
    call.will_complete(requests.data(), requests.size(), false);
    if (call.returned(0))
        for (size_t i = 0; i < requests.size(); ++i)
            call.completed(i, i < arrivals.size() ? &arrivals[i] : nullptr);
}
void barrier(Handle comm, uint64_t bytes = 0) {
    hook(kBarrier, [=](Call& call) { call.collective({comm, -1, bytes, bytes}); });
}
void make_comm(FakeMpi& mpi, Handle comm, std::vector<int32_t> members, Handle parent = kWorld) {
    mpi.comms[comm] = {std::move(members), {}};
    hook(kSplit, [=](Call& call) {
        call.on(parent);
        comm_made(comm, parent, PLUMB_CALLER_FRAME());
    });
}

std::vector<trace::MpiMessage> messages() {
    return fake_trace().events<trace::MpiMessage>(trace::RecordType::MpiMessage);
}
std::vector<trace::MpiCollective> collectives() {
    return fake_trace().events<trace::MpiCollective>(trace::RecordType::MpiCollective);
}
trace::MpiSite sites_of(const char* call) {
    trace::MpiSite sum{};
    for (const auto& site : fake_trace().mpi_sites)
        if (fake_trace().strings.at(site.call - 1) == call) {
            sum.id = site.id;
            sum.comm = site.comm;
            sum.calls += site.calls;
            sum.timed_calls += site.timed_calls;
            sum.ticks += site.ticks;
            sum.sent_bytes += site.sent_bytes;
            sum.received_bytes += site.received_bytes;
            sum.failed += site.failed;
            sum.found_nothing += site.found_nothing;
            for (int i = 0; i < 32; ++i)
                sum.size_histogram[i] += site.size_histogram[i];
        }
    return sum;
}

std::string call_of(uint32_t site_id) {
    for (const auto& site : fake_trace().mpi_sites)
        if (site.id == site_id)
            return fake_trace().strings.at(site.call - 1);
    return "";
}
std::optional<trace::MpiPeer> peer(int32_t rank, trace::MpiDirection direction) {
    for (const auto& row : fake_trace().mpi_peers)
        if (row.peer == rank && row.direction == static_cast<uint32_t>(direction))
            return row;
    return {};
}
const trace::MpiRank& rank_record() { return fake_trace().mpi_ranks.at(0); }

} // namespace

TEST_CASE("a rank says who it is, and its first communicators", "[mpi]") {
    FakeMpi::start(1, 4);
    CHECK(rank_record().rank == 1);
    CHECK(rank_record().size == 4);
    CHECK(rank_record().init_begin_ns <= rank_record().init_end_ns);
    CHECK(fake_trace().strings.at(rank_record().library_version - 1) == "Fake MPI 1.0");
    REQUIRE(fake_trace().mpi_comms.size() == 2);
    CHECK(fake_trace().mpi_comms[0].flags == trace::kMpiCommWorld);
    CHECK(fake_trace().mpi_comms[0].size == 4);
    CHECK(fake_trace().mpi_comms[1].flags == trace::kMpiCommSelf);
    CHECK(fake_trace().mpi_comms[1].first == 1);
    mpi_will_end();
    mpi_ended();
    CHECK(rank_record().finalize_begin_ns <= rank_record().finalize_end_ns);
    CHECK(rank_record().last_ticks > rank_record().first_ticks);
}

TEST_CASE("the call that a thread is inside of shows while it lasts", "[mpi]") {
    FakeMpi::start(1, 4);
    barrier(kWorld);
    REQUIRE(fake_trace().mpi_inside.size() == 1);
    const trace::MpiInside& inside = fake_trace().mpi_inside[0];
    CHECK(inside.begin_ticks == 0);
    {
        const shim::Frame here = PLUMB_CALLER_FRAME();
        Call call(kRecv, here);
        REQUIRE(call.shows());
        call.receives(kWorld, 3, 9);
        call.enters();
        CHECK(inside.begin_ticks != 0);
        CHECK(fake_trace().strings.at(inside.call - 1) == "MPI_Recv");
        CHECK((inside.kind == kRecv.kind && inside.comm == kWorld && inside.source == 3 && inside.source_tag == 9));
        CHECK(inside.return_address == here.pc);
        call.returned(0);
        CHECK(inside.begin_ticks == 0);
    }
    Call poll(kIprobe, PLUMB_CALLER_FRAME());
    CHECK_FALSE(poll.shows());
}

TEST_CASE("requests show while they are under way", "[mpi]") {
    FakeMpi::start(1, 4);
    const auto shown = [] { return fake_trace().events<trace::MpiRequest>(trace::RecordType::MpiRequest); };
    irecv(11, kWorld, 2, 5, 100);
    isend(12, kWorld, 3, 6, 100);
    REQUIRE(shown().size() == 2);
    CHECK((shown()[0].handle == 11 && shown()[0].peer == 2 && shown()[0].tag == 5 && shown()[0].flags == 0));
    CHECK((shown()[1].handle == 12 && shown()[1].peer == 3 && shown()[1].tag == 6 && shown()[1].flags == kSent));
    wait_all({11}, {Arrival{2, 5, 100, false}});
    REQUIRE(shown().size() == 1);
    CHECK(shown()[0].handle == 12);
    wait_all({12}, {});
    CHECK(shown().empty());
}

TEST_CASE("blocking messages are counted by site and peer and kept one by one", "[mpi]") {
    FakeMpi::start(1, 4);
    for (int i = 0; i < 3; ++i)
        send(kWorld, 2, 7, 100);
    send(kWorld, -1, 7, 100); // to no process: a call, no message
    receive(kWorld, -2, -1, 500, 3, 9, 40);
    const auto sends = sites_of("MPI_Send"), receives = sites_of("MPI_Recv");
    CHECK((sends.calls == 4 && sends.sent_bytes == 300 && sends.size_histogram[7] == 3));
    CHECK((receives.calls == 1 && receives.received_bytes == 40 && receives.size_histogram[6] == 1));
    CHECK(sends.ticks > 0);
    CHECK(sends.timed_calls == 4);
    CHECK(peer(2, trace::MpiDirection::sent)->bytes == 300);
    CHECK(peer(3, trace::MpiDirection::received)->messages == 1);
    CHECK(rank_record().messages == 4);
    CHECK(rank_record().unmatched == 0);
    const auto kept = messages();
    REQUIRE(kept.size() == 4);
    CHECK((kept[0].peer == 2 && kept[0].tag == 7 && kept[0].flags == kSent && kept[0].bytes == 100));
    CHECK(kept[2].sequence == kept[0].sequence + 2);
    CHECK((kept[3].peer == 3 && kept[3].tag == 9 && kept[3].flags == trace::kMpiMessageWildcard));
    CHECK((kept[0].begin_ticks == kept[0].wait_ticks && kept[0].begin_ticks < kept[0].end_ticks));
    CHECK(kept[3].site == kept[3].wait_site);
}

TEST_CASE("a call inside a call is the same call, and one that was left by a jump is over", "[mpi]") {
    FakeMpi::start(0, 2);
    hook(kSend, [](Call& call) {
        call.message({kWorld, 1, 0, 8, kSent});
        send(kWorld, 1, 0, 8);
    });
    CHECK(sites_of("MPI_Send").calls == 1);
    CHECK(rank_record().messages == 1);
    static jmp_buf back;
    if (setjmp(back) == 0)
        hook(kBarrier, [](Call&) { longjmp(back, 1); });
    send(kWorld, 1, 0, 8);
    CHECK(sites_of("MPI_Send").calls == 2);
}

TEST_CASE("errors are counted and nothing else of the call", "[mpi]") {
    FakeMpi::start(0, 2);
    hook(kSend, [](Call& call) { call.message({kWorld, 1, 0, 8, kSent}); }, 15);
    CHECK((sites_of("MPI_Send").calls == 1 && sites_of("MPI_Send").failed == 1));
    CHECK(rank_record().messages == 0);
}

TEST_CASE("requests that look alike complete one by one", "[mpi]") {
    FakeMpi::start(0, 4);
    isend(kReady, kWorld, 1, 5, 10); // both are complete at once and have the same handle
    isend(kReady, kWorld, 2, 5, 20);
    irecv(0x99000007, kWorld, 3, -1, 1000);
    wait_all({0x99000007, 0x2c000000, kReady, kReady}, {{3, 12, 600, false}, {}, {}, {}});
    CHECK(rank_record().messages == 3);
    CHECK(rank_record().unmatched == 0);
    CHECK(sites_of("MPI_Irecv").received_bytes == 600);
    CHECK(sites_of("MPI_Waitall").calls == 1);
    std::set<int32_t> peers;
    for (const auto& message : messages()) {
        peers.insert(message.peer);
        CHECK(message.begin_ticks < message.wait_ticks);
        CHECK(message.wait_site == sites_of("MPI_Waitall").id);
        if (message.peer == 3)
            CHECK((message.tag == 12 && message.bytes == 600));
    }
    CHECK(peers == std::set<int32_t>{1, 2, 3});
    wait_all({0x99000007}, {{3, 12, 600, false}}); // unknown by now
    CHECK(rank_record().unmatched == 1);
}

TEST_CASE("statuses are wanted where a receive is waited for", "[mpi]") {
    FakeMpi::start(0, 4);
    isend(0x11, kWorld, 1, 5, 10);
    irecv(0x12, kWorld, -2, 5, 10);
    for (const bool receives : {false, true}) {
        const uint32_t requests[] = {0x11, receives ? 0x12u : 0x2c000000u};
        Call call(kWaitall, PLUMB_CALLER_FRAME());
        call.will_complete(requests, 2, true);
        CHECK(call.wants_statuses() == receives);
    }
}

TEST_CASE("persistent requests begin again as they were described", "[mpi]") {
    FakeMpi::start(0, 4);
    hook(kInit, [](Call& call) { call.made_persistent(0x31, Message{kWorld, -2, 4, 100, 0}); });
    wait_all({0x31}, {{}}); // not started: nothing to wait for
    for (int32_t source : {2, 3, 2}) {
        hook(kStart, [](Call& call) { call.restarted(0x31); });
        wait_all({0x31}, {{source, 4, 50, false}});
    }
    CHECK((rank_record().messages == 3 && rank_record().unmatched == 0));
    CHECK(sites_of("MPI_Start").received_bytes == 150);
    CHECK(peer(2, trace::MpiDirection::received)->messages == 2);
    for (const auto& message : messages()) {
        CHECK(message.flags & trace::kMpiMessageWildcard);
        CHECK(call_of(message.site) == "MPI_Start"); // one site, or three where the compiler unrolls the loop
    }
    hook(kStart, [](Call& call) { call.freed(0x31); });
    wait_all({0x31}, {{}});
    CHECK(rank_record().unmatched == 1);
}

TEST_CASE("a cancelled receive gives its number back, a freed send is complete", "[mpi]") {
    FakeMpi::start(0, 2);
    irecv(0x41, kWorld, 1, 0, 8);
    wait_all({0x41}, {{1, 0, 0, true}});
    CHECK(rank_record().messages == 0);
    receive(kWorld, 1, 0, 8, 1, 0, 8);
    irecv(0x41, kWorld, 1, 0, 8);
    wait_all({0x41}, {{1, 0, 8, false}});
    REQUIRE(messages().size() == 2);
    CHECK(messages()[1].sequence == messages()[0].sequence + 1);
    isend(0x42, kWorld, 1, 0, 8);
    hook(kStart, [](Call& call) { call.freed(0x42); });
    REQUIRE(messages().size() == 3);
    CHECK(messages()[2].end_ticks > messages()[2].begin_ticks);
}

TEST_CASE("ranks of a sub-communicator are recorded as ranks of the world", "[mpi]") {
    FakeMpi& mpi = FakeMpi::start(2, 6);
    make_comm(mpi, 0x84000001, {5, 2, 4});
    send(0x84000001, 0, 1, 8);
    CHECK(messages().at(0).peer == 5);
    CHECK(fake_trace().mpi_comms[2].rank == 1);
    CHECK(fake_trace().mpi_comms[2].first == 5);
    CHECK(fake_trace().mpi_comms[2].parent == 1);
    // The handle is used again for another one.
    hook(kSplit, [](Call& call) {
        comm_freed(0x84000001);
        call.on(kWorld);
    });
    make_comm(mpi, 0x84000001, {2, 3});
    send(0x84000001, 1, 1, 8);
    CHECK(messages().at(1).peer == 3);
    CHECK(messages().at(1).comm == 4);
    // One whose creation nobody saw.
    mpi.comms[0x84000009] = {{1, 2}, {}};
    send(0x84000009, 0, 1, 8);
    CHECK(messages().at(2).peer == 1);
    mpi.comms[0x8400000a] = {{0, 2}, {1, 3, 5}};
    send(0x8400000a, 2, 1, 8);
    CHECK(messages().at(3).peer == 5);
    CHECK(fake_trace().mpi_comms.back().remote_size == 3);
}

TEST_CASE("a communicator is the same one in all its members, whatever else they made", "[mpi]") {
    using Identity = std::pair<uint64_t, uint32_t>;
    const auto identities = [](int32_t rank) {
        FakeMpi& mpi = FakeMpi::start(rank, 6);
        if (rank == 2)
            make_comm(mpi, 0x84000005, {2, 3}); // rank 4 has no part in it
        make_comm(mpi, 0x84000001, {5, 2, 4});
        if (rank == 4)
            make_comm(mpi, 0x84000005, {4, 1});
        make_comm(mpi, 0x84000002, {5, 2, 4}, 0x84000001); // a duplicate
        make_comm(mpi, 0x84000003, {2, 5, 4});             // another order is another group
        mpi.comms[0x84000007] = mpi.comms[0x84000001];
        hook(kIdup, [](Call& call) {
            call.on(0x84000001);
            comm_made(0x84000007, 0x84000001, PLUMB_CALLER_FRAME());
        });
        std::vector<Identity> seen;
        for (const auto& comm : fake_trace().mpi_comms)
            if (comm.size == 3)
                seen.emplace_back(comm.group_hash, comm.ordinal);
        return seen;
    };
    const auto two = identities(2), four = identities(4);
    CHECK(two.size() == 4);
    CHECK(two == four);
    CHECK(std::set<Identity>(two.begin(), two.end()).size() == 4);
    CHECK((two[0].first == two[1].first && two[1].second == 1 && two[3].second == 2));

    // Both sides of an inter-communicator agree, too.
    std::vector<Identity> sides;
    for (const int32_t rank : {0, 3}) {
        FakeMpi& mpi = FakeMpi::start(rank, 4);
        mpi.comms[0x84000001] = rank == 0 ? FakeMpi::Group{{0, 1}, {2, 3}} : FakeMpi::Group{{2, 3}, {0, 1}};
        comm_made(0x84000001, 0, PLUMB_CALLER_FRAME());
        sides.emplace_back(fake_trace().mpi_comms[2].group_hash, fake_trace().mpi_comms[2].ordinal);
    }
    CHECK(sides[0] == sides[1]);
}

TEST_CASE("the status of MPI_Isendrecv's request says nothing, as in MPICH 4.0", "[mpi]") {
    FakeMpi::start(1, 4);
    hook(kIsendrecv, [](Call& call) {
        call.message({kWorld, 2, 5, 36, kSent});
        call.started(0x51, Message{kWorld, 0, 5, 36, 0});
    });
    wait_all({0x51}, {Arrival{3, 7, 12, false}}); // of an earlier message
    const auto both = sites_of("MPI_Isendrecv");
    CHECK((both.sent_bytes == 36 && both.received_bytes == 36 && both.size_histogram[6] == 2));
    CHECK(peer(0, trace::MpiDirection::received)->bytes == 36);
}

TEST_CASE("the size of a collective is what a rank contributes, of data from a root what it gets", "[mpi]") {
    FakeMpi::start(1, 4);
    hook(kBcast, [](Call& call) { call.collective({kWorld, 0, 0, 36}); });
    hook(kBcast, [](Call& call) { call.collective({kWorld, 1, 36, 0}); }); // the root
    hook(kIscatter, [](Call& call) { call.started(0x51, Collective{kWorld, 1, 400, 100}); });
    wait_all({0x51}, {{}});
    hook(kGather, [](Call& call) { call.collective({kWorld, 1, 100, 400}); });
    hook(kInit, [](Call& call) { call.made_persistent(0x52, Collective{kWorld, 0, 0, 36}); });
    hook(kStart, [](Call& call) { call.restarted(0x52); });
    wait_all({0x52}, {{}});
    const auto broadcasts = sites_of("MPI_Bcast"), scatters = sites_of("MPI_Iscatter"), gathers = sites_of("MPI_Gather"),
               starts = sites_of("MPI_Start");
    CHECK((broadcasts.sent_bytes == 36 && broadcasts.received_bytes == 36 && broadcasts.size_histogram[6] == 2));
    CHECK((scatters.sent_bytes == 400 && scatters.received_bytes == 100 && scatters.size_histogram[7] == 1));
    CHECK((gathers.sent_bytes == 100 && gathers.received_bytes == 400 && gathers.size_histogram[7] == 1));
    CHECK((starts.sent_bytes == 0 && starts.received_bytes == 36 && starts.size_histogram[6] == 1));
}

TEST_CASE("collectives are numbered by communicator and tell what lay before them", "[mpi]") {
    FakeMpi& mpi = FakeMpi::start(0, 4);
    make_comm(mpi, 0x84000001, {0, 2});
    barrier(kWorld, 16);
    barrier(0x84000001);
    barrier(kWorld);
    hook(kIbarrier, [](Call& call) { call.started(0x51, Collective{kWorld, 3, 4, 4}); });
    send(kWorld, 1, 0, 8);
    wait_all({0x51}, {});
    barrier(kWorld);
    const auto kept = collectives();
    REQUIRE(kept.size() == 5);
    std::vector<uint64_t> sequences;
    for (const auto& event : kept)
        sequences.push_back(event.comm * 100 + event.sequence);
    CHECK(sequences == std::vector<uint64_t>{100, 300, 101, 102, 103});
    CHECK((kept[0].bytes == 16 && kept[0].root == UINT32_MAX && kept[3].root == 3));
    CHECK(kept[0].gap_ticks > 0);
    CHECK(kept[1].gap_ticks < kept[1].begin_ticks - kept[0].begin_ticks);
    CHECK(kept[1].gap_ticks == kept[1].begin_ticks - kept[0].end_ticks);
    CHECK(kept[2].gap_mpi_ticks == 0);
    CHECK((kept[3].wait_ticks > kept[3].begin_ticks && kept[3].end_ticks > kept[3].wait_ticks));
    CHECK(kept[4].gap_ticks == kept[4].begin_ticks - kept[3].end_ticks);
    CHECK(rank_record().collectives == 5);
    // A call between two of them is time inside MPI.
    send(kWorld, 1, 0, 8);
    barrier(kWorld);
    CHECK(collectives()[5].gap_mpi_ticks > 0);
    CHECK(collectives()[5].gap_mpi_ticks < collectives()[5].gap_ticks);
}

TEST_CASE("while recording is off, numbers go on", "[mpi]") {
    FakeMpi::start(0, 2);
    send(kWorld, 1, 0, 8);
    barrier(kWorld);
    irecv(0x61, kWorld, 1, 0, 8);
    mpi_control(0);
    send(kWorld, 1, 0, 8);
    barrier(kWorld);
    wait_all({0x61}, {{1, 0, 8, false}});
    mpi_control(1);
    send(kWorld, 1, 0, 8);
    barrier(kWorld);
    CHECK((sites_of("MPI_Send").calls == 2 && sites_of("MPI_Barrier").calls == 2 && sites_of("MPI_Waitall").calls == 0));
    CHECK(rank_record().flags & trace::kMpiSilenced);
    REQUIRE((collectives().size() == 2 && messages().size() == 2));
    CHECK(collectives()[1].sequence == 2);
    CHECK(messages()[1].sequence == messages()[0].sequence + 2);
}

TEST_CASE("polls are counted all and timed now and then", "[mpi]") {
    FakeMpi::start(0, 2);
    for (int i = 0; i < 10'000; ++i)
        hook(kIprobe, [](Call& call) {
            call.on(kWorld);
            call.found_nothing();
        });
    const auto polls = sites_of("MPI_Iprobe");
    CHECK((polls.calls == 10'000 && polls.found_nothing == 10'000));
    CHECK((polls.timed_calls > 400 && polls.timed_calls < 900));
    CHECK(polls.ticks > 0);
    CHECK(polls.comm == 1);
    irecv(0x71, kWorld, 1, 0, 8);
    for (int i = 0; i < 40; ++i)
        hook(kTest, [](Call& call) { call.found_nothing(); });
    [] {
        const uint32_t request = 0x71;
        const Arrival arrival{1, 0, 8, false};
        Call call(kTest, PLUMB_CALLER_FRAME());
        call.will_complete(&request, 1, false);
        if (call.returned(0))
            call.completed(0, &arrival);
    }();
    REQUIRE(messages().size() == 1);
    CHECK((messages()[0].wait_ticks > messages()[0].begin_ticks && messages()[0].end_ticks >= messages()[0].wait_ticks));
    CHECK((sites_of("MPI_Test").calls == 41 && sites_of("MPI_Test").found_nothing == 40));
}

TEST_CASE("call sites are told apart by path, function and communicator", "[mpi]") {
    FakeMpi& mpi = FakeMpi::start(0, 4);
    make_comm(mpi, 0x84000001, {0, 1});
    for (int i = 0; i < 10; ++i) {
        send(kWorld, 1, 0, 8);
        send(0x84000001, 1, 0, 8);
        send(kWorld, 1, 0, 8);
    }
    std::vector<uint64_t> calls;
    for (const auto& site : fake_trace().mpi_sites)
        if (fake_trace().strings.at(site.call - 1) == "MPI_Send") {
            calls.push_back(site.calls);
            CHECK(fake_trace().path(site.path).size() > 2);
        }
    CHECK(std::accumulate(calls.begin(), calls.end(), uint64_t{0}) == 30);
    CHECK(calls.size() >= 2);
    // Endless communicators do not make endless sites, and no call is lost.
    for (uint32_t i = 0; i < 6000; ++i) {
        make_comm(mpi, 0x85000000 + i, {0, 1});
        barrier(0x85000000 + i);
    }
    CHECK(sites_of("MPI_Barrier").calls == 6000);
    CHECK(fake_trace().mpi_sites.size() <= Sites::kFine + 10);
    CHECK(fake_trace().mpi_comms.size() == Comms::kRecordsMax);
}

TEST_CASE("eight threads send and receive at once", "[mpi]") {
    FakeMpi::start(0, 16);
    std::vector<std::thread> threads;
    constexpr uint32_t kCount = 5000;
    for (int32_t number = 0; number < 8; ++number)
        threads.emplace_back([number] {
            for (uint32_t i = 0; i < kCount; ++i) {
                const Handle request = 0x1000u * static_cast<uint32_t>(number) + i % 7 + 1;
                isend(request, kWorld, number, number, i);
                send(kWorld, 9, 1, 4);
                wait_all({static_cast<uint32_t>(request)}, {});
            }
        });
    for (auto& thread : threads)
        thread.join();
    CHECK((sites_of("MPI_Isend").calls == 8 * kCount && sites_of("MPI_Send").calls == 8 * kCount));
    CHECK(rank_record().messages == 16 * kCount);
    CHECK(rank_record().unmatched == 0);
    CHECK(peer(9, trace::MpiDirection::sent)->messages == 8 * kCount);
    // Each number is there once, and only multiples of the stride.
    std::set<std::pair<int32_t, uint64_t>> seen;
    for (const auto& message : messages()) {
        CHECK(message.sequence % rank_record().message_stride == 0);
        CHECK(seen.insert({message.peer, message.sequence}).second);
    }
    CHECK(seen.size() > 8000);
}
