// One clock for all ranks of a job. The ranks of one host share its counter and its clock. Between hosts, offset and drift
// follow from what cannot have been otherwise: nobody leaves a collective that synchronises before everybody has entered.
#pragma once

#include "model/mpi_job.h"
#include "replay/events/events.h"
#include "replay/events/rank_work.h"

#include <vector>

namespace plumb::replay {

// Bounds of what must be added to one host's times, in equal stretches of the run.
struct ShiftBounds {
    static constexpr size_t kStretches = 64;
    struct Bound {
        Nanoseconds least = INT64_MIN, most = INT64_MAX;
        // Of the shortest stay of the host's ranks in a collective, in which the others had all but arrived: what must be
        // added for it to leave together with the first host.
        Nanoseconds shortest_stay = INT64_MAX, apart = 0;
        bool known() const { return least != INT64_MIN && most != INT64_MAX; }
    };
    std::vector<Bound> bounds = std::vector<Bound>(kStretches);

    void narrow(size_t stretch, Nanoseconds least, Nanoseconds most);
    void leave(size_t stretch, Nanoseconds stay, Nanoseconds apart);
    void merge(const ShiftBounds& other);
    template <class Carrier> void carry(Carrier& carrier) { carrier(bounds); } // see team/packing.h
};

struct FittedShift {
    HostShift shift;       // no values: no stretch has both bounds
    Nanoseconds error = 0; // what it can be wrong by: the widest distance to a bound
    double drift = 0;      // seconds a second
};

// In each stretch the shift with which the host leaves a collective together with the first one, as far as the bounds
// allow; their middle where no such is known (a host that always arrives last moves the middle away from the truth).
// Straight lines between them, for a run from `begin` to `end`.
FittedShift fit_shift(const ShiftBounds& bounds, Nanoseconds begin, Nanoseconds end);

// Gives each rank the clock of its host as its own file tells it.
void set_clocks(const model::Run& run, Job& job);

// Then sets the clocks of all hosts to that of the first rank's; reads the files of all ranks once when there are several.
// `shifts` gets one element a host and outlives the job's clocks.
model::MpiClocks align_hosts(const model::Run& run, Job& job, const OpenTrace& open, const RankWork& work,
                             std::vector<HostShift>& shifts);

} // namespace plumb::replay
