#include "fake_mpi.h"

#include "fake_trace.h"
#include "record/mpi/mpi_collector.h"
#include "record/mpi/rank.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace plumb::test {
namespace {

FakeMpi fake;

using shim::mpi::Handle;
constexpr Handle kGroup = 0x1000, kRemoteGroup = 0x2000; // added to a communicator's number below 0x1000

const std::vector<int32_t>& members_of(Handle group) {
    static std::map<Handle, std::vector<int32_t>> empty;
    for (const auto& [comm, members] : fake.comms) {
        if (group == comm + kGroup)
            return members.members;
        if (group == comm + kRemoteGroup)
            return members.remote;
    }
    return empty[group];
}

int comm_rank(Handle comm, int32_t* rank) {
    ++fake.questions;
    const auto& members = fake.comms.at(comm).members;
    *rank = static_cast<int32_t>(std::ranges::find(members, fake.rank) - members.begin());
    return 0;
}
int comm_size(Handle comm, int32_t* size) {
    *size = static_cast<int32_t>(fake.comms.at(comm).members.size());
    return 0;
}
int comm_remote_size(Handle comm, int32_t* size) {
    *size = static_cast<int32_t>(fake.comms.at(comm).remote.size());
    return 0;
}
int comm_test_inter(Handle comm, int32_t* inter) {
    *inter = !fake.comms.at(comm).remote.empty();
    return 0;
}
int comm_group(Handle comm, Handle* group) {
    *group = comm + kGroup;
    return 0;
}
int comm_remote_group(Handle comm, Handle* group) {
    *group = comm + kRemoteGroup;
    return 0;
}
int comm_get_parent(Handle* comm) {
    *comm = fake.parent;
    return 0;
}
int group_size(Handle group, int32_t* size) {
    *size = static_cast<int32_t>(members_of(group).size());
    return 0;
}
int group_translate(Handle group, int count, const int32_t* ranks, Handle to, int32_t* translated) {
    const auto& from = members_of(group);
    const auto& target = members_of(to);
    for (int i = 0; i < count; ++i) {
        const auto found = std::ranges::find(target, from[static_cast<size_t>(ranks[i])]);
        translated[i] = found == target.end() ? -32766 : static_cast<int32_t>(found - target.begin());
    }
    return 0;
}
int group_free(Handle*) { return 0; }
int library_version(char* text, int* length) {
    strcpy(text, "Fake MPI 1.0\nwith more lines");
    *length = static_cast<int>(strlen(text));
    return 0;
}

} // namespace

FakeMpi& FakeMpi::start(int32_t rank, int32_t size) {
    fake = {};
    fake.rank = rank;
    fake.comms[kWorld].members.resize(static_cast<size_t>(size));
    std::iota(fake.comms[kWorld].members.begin(), fake.comms[kWorld].members.end(), 0);
    fake.comms[kSelf].members = {rank};
    auto nodes = std::move(fake_trace().nodes); // the tree remembers what it has written
    fake_trace() = {};
    fake_trace().nodes = std::move(nodes);
    if (shim::mpi::rank_of_process)
        memset(static_cast<void*>(shim::mpi::rank_of_process), 0, sizeof(shim::mpi::Rank));
    if (shim::this_thread)
        shim::this_thread->data<void>(shim::ThreadSlot::mpi) = nullptr;
    shim::mpi_collector.start(false);
    shim::mpi::mpi_will_start();
    shim::mpi::mpi_started(0, false);
    return fake;
}

} // namespace plumb::test

namespace plumb::shim::mpi {

std::atomic<const Library*> known_library{nullptr};

const Library& find_library() {
    static const Library library = [] {
        Library made{};
        made.kind = trace::MpiLibrary::mpich;
        made.world = test::FakeMpi::kWorld;
        made.self = test::FakeMpi::kSelf;
        made.null_comm = test::FakeMpi::kNull;
        made.null_request = 0x2c000000;
        made.any_source = -2;
        made.any_tag = -1;
        made.no_process = -1;
        made.handle_bytes = 4;
        return made;
    }();
    return library;
}

void* find_own_function(const char* name) {
    static const std::map<std::string, void*> functions = {
        {"PMPI_Comm_rank", reinterpret_cast<void*>(test::comm_rank)},
        {"PMPI_Comm_size", reinterpret_cast<void*>(test::comm_size)},
        {"PMPI_Comm_remote_size", reinterpret_cast<void*>(test::comm_remote_size)},
        {"PMPI_Comm_test_inter", reinterpret_cast<void*>(test::comm_test_inter)},
        {"PMPI_Comm_group", reinterpret_cast<void*>(test::comm_group)},
        {"PMPI_Comm_remote_group", reinterpret_cast<void*>(test::comm_remote_group)},
        {"PMPI_Comm_get_parent", reinterpret_cast<void*>(test::comm_get_parent)},
        {"PMPI_Group_size", reinterpret_cast<void*>(test::group_size)},
        {"PMPI_Group_translate_ranks", reinterpret_cast<void*>(test::group_translate)},
        {"PMPI_Group_free", reinterpret_cast<void*>(test::group_free)},
        {"PMPI_Get_library_version", reinterpret_cast<void*>(test::library_version)},
    };
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

Handle from_fortran(HandleKind, int32_t integer) { return static_cast<uint32_t>(integer); }

} // namespace plumb::shim::mpi
