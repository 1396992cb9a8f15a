// Who had a CPU while the thread that measures was off it. Pure.
#pragma once

#include "record/noise/absences.h"
#include "record/noise/cpu_users.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

// When the recorder itself was awake.
struct AwakeTime {
    uint64_t begin_ns = 0, end_ns = 0;
};

// Takes the recorder's own time out of an absence, and returns it: parts of the thread `own_tid`, and of parts without a name
// what lies in `awake` (by time), `most_ns` at most.
uint64_t take_own_time(Absence& absence, uint32_t own_tid, std::span<const AwakeTime> awake, uint64_t most_ns);

// Gives parts without a name to threads, by how long each of `uses` (of this CPU) ran in the time that the absences lie in:
//  - to the thread that must have filled more than half of a part, whatever the others did;
//  - what then is left to the others in order of time, those that ran for the shortest time first: how long each had the CPU is
//    then right, and when it had it to the length of that time. Not of one that got its parts already: a twentieth of them or
//    less is what clocks differ by, and would make short losses of others its own.
// What ran unseen (the absences are longer than all uses together) is a further thread, without a name. What a use still has
// left is in `uses` afterwards, and what it got beyond that.
void name_by_use(std::vector<Absence>& absences, std::vector<CpuUse>& uses, NameTable& names);

} // namespace plumb::record
