// The communicators that the program uses now, by their handles, and what each is called in the trace.
//
// Libraries use the handle of a freed communicator again for another one. A communicator's identity over the ranks is
// therefore the hash of its group and its number among the communicators of that group (trace::MpiComm). Windows and files
// are communicators here, counted apart: libraries make one for each, too.
#pragma once

#include "record/mpi/communicators/comm_facts.h"
#include "record/mpi/tables/key_table.h"
#include "record/mpi/tables/mix.h"

namespace plumb::shim::mpi {

struct Comm {
    Handle handle;
    uint32_t id;         // trace::MpiComm::id, 0: found no room: its events are not kept
    uint32_t generation; // of this place: another one after each use
    uint32_t ordinal;
    uint64_t collectives; // begun so far
    CommFacts facts;
    trace::MpiComm* record;

    int32_t world_rank_of(int32_t peer) const { return facts.peers().world_rank(peer); }
    // The same in all members.
    uint64_t identity() const { return mix(facts.group_hash, ordinal); }
};

// Under the lock of the tables, all but generation().
class Comms {
  public:
    static constexpr uint32_t kLivingMax = 16384;
    static constexpr uint32_t kRecordsMax = 4096;
    static constexpr uint32_t kRecordsOfOthersMax = 2048; // of windows and files

    Comm* find(Handle handle);

    // A place that an operation remembered: null when it belongs to another communicator by now.
    Comm* at(uint32_t place, uint32_t generation) {
        return place < used_ && comms_[place].generation == generation ? &comms_[place] : nullptr;
    }
    uint32_t place_of(const Comm* comm) const { return static_cast<uint32_t>(comm - comms_); }

    enum class Origin { known, guessed }; // guessed: met in use; its creation was not seen
    struct Making {
        Handle handle;
        uint32_t parent; // trace::MpiComm::id
        uint32_t flags;  // trace::MpiCommFlags
        trace::NodeId path;
        uint64_t time_ticks;
    };

    // Takes over the facts (their tables too). What had this handle is forgotten. Null: no room at all.
    Comm* add(const Guard&, const Making&, const CommFacts&, Origin);
    void remove(Handle handle);

    // Changes whenever a handle may have come to mean something else.
    uint32_t generation() const { return __atomic_load_n(&generation_, __ATOMIC_ACQUIRE); }

    uint32_t refused() const { return refused_; } // communicators without a record

  private:
    Comm* free_place();
    uint32_t next_ordinal(uint64_t group_hash);

    KeyTable by_handle_, ordinals_;
    Comm* comms_; // kLivingMax of them, touched as they are needed
    uint32_t used_;
    uint32_t freed_head_, freed_tail_; // places freed, oldest first; plus 1
    uint32_t* freed_next_;
    uint32_t generation_;
    uint32_t records_, records_of_others_, refused_;
};

} // namespace plumb::shim::mpi
