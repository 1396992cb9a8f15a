// What the run would have taken had its threads been spread over the CPUs they may use.
#pragma once

#include "diagnoses/common/schedule.h"

#include <vector>

namespace plumb {

struct ReplayConditions {
    bool others_gone = false; // besides, everything outside the run has left
    // Part of others' time that is known to be other programs', 0..1. Confined threads would win a fair share of it on
    // the CPUs they were kept from, and lose some of theirs where they then run in smaller company.
    double others_known = 0;
};

// Seconds of waiting that each activity of `slot` would have been spared (parallel to slot.activities, each at
// most its delay_s).
//
// The waiting threads of the slot share the CPUs in small slices, as a fair scheduler lets them: with three on two CPUs each
// runs two thirds of the time, and none of them stays on one CPU for the whole slot. A CPU gives them what they had there and
// what it had idle. Idle time and waiting of one slot need not have coincided: for threads that someone confined,
// idle time is taken as spread evenly over the slot; for threads that the scheduler could have moved itself, only
// the part that must have coincided counts.
//
// What is spared is the difference to the same sharing of what the threads had: where no CPU was idle, what one thread gains by
// another placement another one loses.
std::vector<double> spared_delay(const Schedule& schedule, const Slot& slot, const ReplayConditions& conditions);

// Wall seconds of the run replayed with that waiting spared. A thread that never sleeps follows its own chain of
// slots; one that sleeps while others work waits for them; time in which nobody of the run is active stays.
double replayed_seconds(const Schedule& schedule, const ReplayConditions& conditions);

} // namespace plumb
