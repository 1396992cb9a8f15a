// Where the ranks of a job are that did not end MPI: killed, aborted, or still running when the record was read. Part of
// MpiJob. Ranks are those of MPI_COMM_WORLD.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::model {

// What a rank waits for, as far as it is one rank's message.
struct MpiAwaited {
    int rank = -1;       // the other end; -1: any, or not known
    int tag = -1;        // negative: any
    bool sends = false;  // to that rank, which has to receive; else it receives
    bool alone = true;   // false: one of several operations, any of which may be the one that is missing
    bool proven = false; // nothing that could end the waiting was on its way when the record ended
};

struct MpiPendingRank {
    enum class State {
        inside,  // of an MPI call
        outside, // between MPI calls
        ended,   // the process ended by itself without MPI_Finalize, and no thread of it was inside
    };
    int rank = -1;
    uint32_t process = 0; // index into Run::processes
    State state = State::outside;
    bool aborted = false;  // it called MPI_Abort
    std::string call;      // inside: of what; outside: its last call, may be empty
    uint32_t kind = 0;     // trace::MpiKind of it
    bool has_path = false;
    uint32_t path = 0;     // inside: who called; outside: where it computes, by its latest time sample
    double for_s = -1;     // in this state; negative: not known
    double end_s = 0;      // of its process, since the run began
    bool end_seen = false; // else end_s is its last sign of life
    int signal = 0;        // that ended the process; 0: none, or not known
    int exit_status = -1;  // that the process ended with; -1: it did not end by itself, or not known
    uint32_t comm = UINT32_MAX; // inside: index into MpiJob::comms
    uint64_t sequence = 0; // inside a collective: its number on the communicator
    uint32_t requests = 0; // inside a call that waits for requests: how many it was given
    std::vector<MpiAwaited> awaits;
};

// A collective that some members of a communicator are inside of, and others are not.
struct MpiIncomplete {
    std::string call;       // of most of them
    bool calls_differ = false; // some are in another collective on the same communicator
    uint32_t comm = UINT32_MAX; // UINT32_MAX: MPI_Finalize
    std::vector<uint32_t> inside;  // indexes into MpiPending::ranks
    std::vector<uint32_t> missing; // likewise
    uint32_t not_recorded = 0;     // members of whom nothing is known
};

// A rank waits for a message from another one, which sent it one that it does not receive.
struct MpiStrayMessage {
    uint32_t waiting = 0; // index into MpiPending::ranks
    int sender = -1, tag = -1;
    bool other_comm = false; // on another communicator than the receive's
    uint64_t messages = 0;   // of that tag that were not received
    uint32_t process = 0, path = 0; // who sent it: index into Run::processes, and into their paths
};

struct MpiPending {
    std::vector<MpiPendingRank> ranks; // by rank; empty: all ranks ended MPI
    uint32_t finished = 0;             // ranks that did end it
    std::vector<uint32_t> ring;        // each waits for the next one, the last for the first: indexes into `ranks`
    bool ring_proven = false;
    std::vector<uint32_t> aborting;    // those that called MPI_Abort: indexes into `ranks`
    // Its process ended before the others, which is why they did not get on: index into `ranks`. UINT32_MAX: not known.
    uint32_t ended_first = UINT32_MAX;
    std::vector<MpiIncomplete> collectives; // but those in which nobody is missing that did not call MPI_Abort
    std::vector<MpiStrayMessage> strays;
};

} // namespace plumb::model
