#include "record/mpi/communicators/comm_facts.h"

#include "platform/os/memory.h"
#include "record/mpi/library/library.h"

namespace plumb::shim::mpi {
namespace {

constexpr uint32_t kNearRanks = 256; // of a group: so many are translated on the stack

template <class Function> bool find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(find_own_function(name));
    return function != nullptr;
}

} // namespace

bool CommQuestions::start(Handle world, int32_t launched_rank, int32_t launched) {
    const bool complete = find(comm_rank_, "PMPI_Comm_rank") && find(comm_size_, "PMPI_Comm_size") &&
                          find(comm_remote_size_, "PMPI_Comm_remote_size") &&
                          find(comm_test_inter_, "PMPI_Comm_test_inter") && find(comm_group_, "PMPI_Comm_group") &&
                          find(comm_remote_group_, "PMPI_Comm_remote_group") && find(group_size_, "PMPI_Group_size") &&
                          find(group_translate_, "PMPI_Group_translate_ranks") && find(group_free_, "PMPI_Group_free");
    if (!complete)
        return false;
    find(comm_get_parent_, "PMPI_Comm_get_parent");
    world_group_ = 0;
    world_rank_ = launched_rank;
    world_size_ = launched;
    return !world || (comm_rank_(world, &world_rank_) == 0 && comm_size_(world, &world_size_) == 0 &&
                      comm_group_(world, &world_group_) == 0);
}

void CommQuestions::end() {
    if (world_group_ && group_free_)
        group_free_(&world_group_);
    world_group_ = 0;
}

bool CommQuestions::group_ranks(Handle group, RankMap* map, uint64_t* hash) const {
    int32_t size = 0;
    if (group_size_(group, &size) != 0 || size < 0)
        return false;
    const uint32_t count = static_cast<uint32_t>(size);
    if (!world_group_) {
        map->size = count;
        if (size == world_size_)
            *map = RankMap::regular(count, 0, 1);
        else if (size == 1)
            *map = RankMap::regular(1, world_rank_, 1);
        *hash = hash_of_ranks(*map);
        return true;
    }
    // Pages of their own cost more than all the rest: for large groups only.
    int32_t near_ranks[2 * kNearRanks];
    const bool is_near = count <= kNearRanks;
    const size_t bytes = 2 * count * sizeof(int32_t) + 8;
    int32_t* const ranks = is_near ? near_ranks : static_cast<int32_t*>(allocate_pages(bytes, true));
    if (!ranks)
        return false;
    int32_t* const world_ranks = ranks + count;
    for (int32_t i = 0; i < size; ++i)
        ranks[i] = i;
    const bool translated = group_translate_(group, size, ranks, world_group_, world_ranks) == 0;
    if (translated) {
        map->set(world_ranks, count);
        *hash = hash_of_ranks(world_ranks, count);
    }
    if (!is_near)
        release_pages(ranks, bytes);
    return translated;
}

bool CommQuestions::ask(Handle comm, CommFacts* facts) const {
    *facts = {};
    int32_t inter = 0;
    Handle group = 0;
    if (!comm_group_ || comm_test_inter_(comm, &inter) != 0 || comm_rank_(comm, &facts->rank) != 0 ||
        comm_group_(comm, &group) != 0)
        return false;
    facts->inter = inter != 0;
    uint64_t local = 0, remote = 0;
    bool answered = group_ranks(group, &facts->local, &local);
    group_free_(&group);
    facts->group_hash = local;
    if (answered && facts->inter) {
        answered = comm_remote_group_(comm, &group) == 0;
        if (answered) {
            answered = group_ranks(group, &facts->remote, &remote);
            group_free_(&group);
        }
        facts->group_hash = local < remote ? mix(local, remote) : mix(remote, local);
    }
    if (!answered)
        facts->release();
    return answered;
}

bool CommQuestions::parent(Handle* comm) const {
    *comm = 0;
    return comm_get_parent_ && comm_get_parent_(comm) == 0 && *comm && *comm != library().null_comm;
}

} // namespace plumb::shim::mpi
