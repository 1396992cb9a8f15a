// Messages and collectives from their begin to their end, whether one call does both or two calls do it together.
//
// All under the lock of the tables.
#pragma once

#include "record/mpi/rank.h"

namespace plumb::shim::mpi {

// What the program said, in an operation that has not begun. Comm null: not known.
Operation operation_of(const Rank&, const Message&, const Comm*);
Operation operation_of(const Rank&, const Collective&, const Comm*);

// It begins: takes its number, and counts at its site what is sent. Persistent ones begin again and again.
void begin_operation(const Guard&, Rank&, Operation&, Site*);

struct Ending {
    uint64_t wait_ticks, end_ticks;
    uint32_t site;          // that completed it
    const Arrival* arrival; // null: not known
};
// It is complete: counts what arrived, and keeps it as an event. True: a collective.
bool end_operation(const Guard&, Rank&, Operation&, const Ending&);

} // namespace plumb::shim::mpi
