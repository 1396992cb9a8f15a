// What the library says of a communicator, in terms that hold in all ranks.
#pragma once

#include "record/mpi/communicators/rank_map.h"
#include "record/mpi/mpi_call.h"

namespace plumb::shim::mpi {

struct CommFacts {
    bool inter;
    int32_t rank;        // of this process in it
    RankMap local;       // world ranks of the (local) group
    RankMap remote;      // of the remote group, size 0 if it has none
    uint64_t group_hash; // the same in all members, also on both sides of an inter-communicator

    const RankMap& peers() const { return inter ? remote : local; }
    void release() {
        local.release();
        remote.release();
    }
};

// The functions of the library that are needed here, and what MPI_COMM_WORLD is. Zeroed: not started.
class CommQuestions {
  public:
    // Behind MPI_Init. `world` null: there is none (sessions); then only communicators of all `launched` processes
    // and of one have known world ranks. False: the library lacks a function.
    bool start(Handle world, int32_t launched_rank, int32_t launched);
    void end(); // before MPI_Finalize

    int32_t world_rank() const { return world_rank_; }
    int32_t world_size() const { return world_size_; }

    // Local calls only. Not under the lock of the tables. False: the library refused.
    bool ask(Handle comm, CommFacts*) const;
    bool parent(Handle* comm) const; // of spawned processes; false: there is none

  private:
    bool group_ranks(Handle group, RankMap*, uint64_t* hash) const;

    int (*comm_rank_)(Handle, int32_t*);
    int (*comm_size_)(Handle, int32_t*);
    int (*comm_remote_size_)(Handle, int32_t*);
    int (*comm_test_inter_)(Handle, int32_t*);
    int (*comm_group_)(Handle, Handle*);
    int (*comm_remote_group_)(Handle, Handle*);
    int (*comm_get_parent_)(Handle*);
    int (*group_size_)(Handle, int32_t*);
    int (*group_translate_)(Handle, int, const int32_t*, Handle, int32_t*);
    int (*group_free_)(Handle*);
    Handle world_group_;
    int32_t world_rank_, world_size_;
};

} // namespace plumb::shim::mpi
