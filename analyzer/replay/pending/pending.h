// Where the ranks of a job are that did not end MPI, and whom they wait for (model::MpiPending).
//
// A wait is proven when the files say that nothing which could end it was on its way: the sender has sent no more messages to
// this rank than it received, and is not sending one; the receiver is not receiving. What is proven for every rank of a
// ring of waits can never end.
#pragma once

#include "model/mpi_pending.h"
#include "replay/events/events.h"

namespace plumb::replay {

// Reads the events of at most kMostStrayPairs pairs of ranks; what cannot be read is left out. No ranks: all of them ended
// MPI, or their processes ended by themselves with nobody inside of a call.
inline constexpr size_t kMostStrayPairs = 16;
model::MpiPending find_pending(const model::Run& run, const Job& job, const OpenTrace& open);

// The part of it that looks for messages which were sent to a waiting rank and not received, by events.
void find_stray_messages(const model::Run& run, const Job& job, const OpenTrace& open, model::MpiPending& pending);

// The part of it that looks for the rank that ended first: by a signal of its own, by itself without MPI_Finalize, or clearly
// before the others. None where they may all have been ended together: by the launcher, a time limit, somebody's Ctrl-C.
void find_first_end(const model::Run& run, const Job& job, model::MpiPending& pending);

// Messages from one rank to another that one end counts as complete.
uint64_t messages_between(const model::MpiProcess& mpi, int peer, model::MpiPeer::Direction direction);

} // namespace plumb::replay
