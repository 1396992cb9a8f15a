// Operations under way, by the handles of their requests.
//
// Handles need not differ: MPICH and Open MPI give the same ready-made request to every send that is complete at once.
// Operations of one handle are therefore a queue, and the oldest is the first to complete.
#pragma once

#include "record/mpi/mpi_call.h"
#include "record/mpi/tables/key_table.h"

namespace plumb::shim::mpi {

struct Operation {
    enum class Kind : uint8_t { other, message, collective };
    Kind kind;
    bool persistent;
    bool active;    // begun and not complete; always, unless persistent
    bool kept;      // false: begun while recording was off
    bool numbered;  // sequence is known
    bool wildcard;  // source or tag are known when it is complete
    bool silent;    // its status says nothing of the message
    uint32_t flags; // trace::MpiMessageFlags
    int32_t peer, tag; // as the program said them; of a collective: root, -1
    uint32_t comm_place, comm_generation, comm_id;
    uint32_t next;  // in the queue of its handle, plus 1
    uint32_t last;  // of the oldest in the queue: who is the youngest
    uint32_t site;  // trace::MpiSite::id of the call that began it, 0: not known
    uint64_t sequence;
    uint64_t begin_ticks, begun_ticks; // the call that began it, and its end
    uint64_t gap_ticks, gap_mpi_ticks; // of collectives
    uint64_t bytes;
    uint64_t received_bytes; // of collectives
};

// Under the lock of the tables.
class Requests {
  public:
    static constexpr uint32_t kMax = 1u << 17;

    // At the end of the handle's queue, to be filled but for its place there (next, last); null: no room.
    Operation* add(Handle);
    Operation* find(Handle); // the oldest; null: not known
    void remove(Handle);     // the oldest

    // Shows in the trace that it is under way, and that it no longer is. Those in the first places are shown.
    void show(const Guard&, const Operation&, Handle);
    void hide(const Operation&);

    uint32_t count() const { return in_use_; }

  private:
    static constexpr uint32_t kSlabs = 16, kSlabPlaces = 128; // 6 KiB each

    bool grow();
    uint32_t take_place();
    trace::MpiRequest* shown_at(const Operation&);

    KeyTable by_handle_;  // place of the oldest
    Operation* operations_;
    uint32_t capacity_, used_, free_head_, in_use_; // free_head_: plus 1
    trace::MpiRequest* shown_[kSlabs]; // by place
    bool shows_no_more_; // the file is full
};

} // namespace plumb::shim::mpi
