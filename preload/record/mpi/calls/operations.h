// Messages and collectives from their begin to their end, whether one call does both or two calls do it together.
//
// All under the lock of the tables.
#pragma once

#include "record/mpi/rank.h"

namespace plumb::shim::mpi {

// What one call began and completed. Comm null: not known. Site null: recording is off, only what later calls depend on is
// followed.
struct CallTimes {
    uint64_t begin_ticks, end_ticks;
    uint64_t gap_ticks, gap_mpi_ticks; // of collectives
    uint32_t wait_site;                // trace::MpiSite::id of the call in which it was waited for, 0: the same
};
void record_message(const Guard&, Rank&, const Comm*, const Message&, const Arrival*, Site*, const CallTimes&);
void record_collective(const Guard&, Rank&, Comm*, const Collective&, Site*, const CallTimes&);

// What the program said, in an operation that has not begun; all of it but its place in a queue (next, last).
void describe(const Rank&, const Message&, const Comm*, Operation*);
void describe(const Rank&, const Collective&, const Comm*, Operation*);
void describe_other(Operation*); // active

// It begins: takes its number, and counts at its site what is sent. Persistent ones begin again and again.
void begin_operation(const Guard&, Rank&, Operation&, Site*);

struct Ending {
    uint64_t wait_ticks, end_ticks;
    uint32_t site;          // that completed it
    const Arrival* arrival; // null: not known
};
// It is complete: counts what arrived, and keeps it as an event. True: a collective.
bool end_operation(const Guard&, Rank&, Operation&, const Ending&);

// A completion of which the beginning is not known, or the other way about.
void count_unmatched(Rank&);

} // namespace plumb::shim::mpi
