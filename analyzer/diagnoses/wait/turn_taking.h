// Threads that take turns at a lock of their language's runtime (Python's interpreter lock, Java's monitors). Who holds it is not
// recorded. It can only be one of those that wait for it at other times, and which of them went on meanwhile is known.
//
// While one of n threads goes on, at most n - 1 wait: of W thread seconds of waiting, at least W / n of wall time would end if they
// went on side by side. If k wait at once on average, it is k / (k + 1) of the wall time in which the run depends on these threads:
// the most, as their number varies.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/diagnosis.h"
#include "diagnoses/finding.h"
#include "diagnoses/wait/wait_replay.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumb {

struct TurnTaking {
    uint32_t process = 0;               // index into Run::processes
    std::map<uint32_t, double> waits_s; // by thread; at least two, none that hardly waits
    double waiting_s = 0;               // all of them
    double awaited_s = 0;               // wall time of the run that depended on these threads' own work, files and sleep
    double least_s = 0, most_s = 0;     // of wall time, with fewest and most gain
    uint64_t looks = 0;
    std::map<uint32_t, double> went_on_s; // by thread: how long it was seen to run, or at a device, while others waited
    double running_s = 0, asleep_s = 0;   // of all these threads, whoever waited: on a CPU; blocked, but not for others
    LineShares waiting_at, running_at;    // the user's lines, as far as they are known
};

// What the run would save if these threads went on side by side. Threads that have to wait for a CPU already may do so instead:
// where that leaves less, it is certain, and half of the rest is taken. `how` is left empty.
Gain gain_of(const TurnTaking& turns, const WaitReplay& replay);

// The heaviest first.
std::vector<TurnTaking> turn_takings(const DiagnosisInput& input, const WaitReplay& replay, RuntimeLock lock);

// "python3 (thread 12): 1.3 s", the longest first.
std::vector<std::string> thread_times_of(const model::Run& run, uint32_t process, const std::map<uint32_t, double>& seconds);

} // namespace plumb
