// Where messages go and come from: their numbering, which is the same at both ends, and the totals by peer.
//
// A channel is what MPI keeps in order: one communicator, sender, receiver and tag.
#pragma once

#include "record/mpi/communicators/comms.h"
#include "record/mpi/tables/key_table.h"

namespace plumb::shim::mpi {

// Totals by peer. Under the lock of the tables.
class Peers {
  public:
    static constexpr uint32_t kMax = 2048;

    // Peer: world rank, -1: not known.
    void count(const Guard&, int32_t peer, trace::MpiDirection, uint64_t bytes);
    uint32_t refused() const { return refused_; } // peers that are counted in the row of the others

  private:
    trace::MpiPeer* row(const Guard&, int32_t peer, trace::MpiDirection);

    KeyTable table_;
    trace::MpiPeer* rows_[kMax + 4];
    uint32_t used_, refused_;
};

// Under the lock of the tables.
class Channels {
  public:
    static constexpr uint32_t kMax = 16384;

    struct Number {
        bool known;        // false: no room for another channel; the message is not numbered
        uint64_t sequence; // trace::MpiMessage::sequence
    };
    // The next message on it. Ranks are world ranks.
    Number next(const Comm&, int32_t sender, int32_t receiver, int32_t tag, bool sent);

    // A receive that had this number was cancelled: the next one gets it, unless others were begun meanwhile.
    void take_back(const Comm&, int32_t sender, int32_t receiver, int32_t tag, uint64_t sequence);

  private:
    static uint64_t key_of(const Comm&, int32_t sender, int32_t receiver, int32_t tag, bool sent);

    KeyTable table_;
    uint64_t* next_; // [place]
    uint32_t used_;
};

// The place of `bytes` in the histograms of the trace.
inline uint32_t size_class(uint64_t bytes) {
    if (bytes == 0)
        return 0;
    const uint32_t bits = 64 - static_cast<uint32_t>(__builtin_clzll(bytes));
    return bits < 31 ? bits : 31;
}

} // namespace plumb::shim::mpi
