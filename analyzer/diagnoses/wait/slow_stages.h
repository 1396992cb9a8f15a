// Pipelines of which one stage is slower than the others: those wait for it at a queue, or at a pipe, and the run takes as long as
// it does.
//
// A stage is a thread, or several that do the same work. The slow one goes on nearly all its life and hardly ever waits for others,
// the run's wall time depends on it, and others wait for it again and again. Who wakes a thread at a condition is not recorded.
// So the slow stage must have gone on in nearly all these waits, and nothing from outside of the process may explain them.
//
// A thread that does hardly anything but wait may be one that writes a log: then there is no stage that could be overlapped. It
// counts only if it is seen to be the one that brings the work.
#pragma once

#include "analyses/lines/line_shares.h"
#include "diagnoses/common/schedule.h"
#include "diagnoses/diagnosis.h"
#include "diagnoses/wait/wait_replay.h"

#include <cstdint>
#include <vector>

namespace plumb {

struct SlowStage {
    std::vector<Task> members; // threads that do the slow work
    std::vector<Task> waiters; // threads that wait for it, the longest first
    bool other_process = false; // the first of the waiters is of another process
    double waiting_s = 0;      // of the waiter that waits longest
    double wall_s = 0;         // of the run's wall time, what depended on the stage
    double own_s = 0, next_s = 0; // what its longest thread does without waiting for others; the longest of all other threads
    double device_s = 0;       // of own_s, not on a CPU
    double saved_s = 0;        // of wall time, if more CPUs did it in no more time than the next slowest takes; a bound
    double saved_by_less_s = 0; // the same, if its work were made less until it takes no longer than the next slowest; a bound
    bool is_fed = false;       // the others do much of the work, or are known to bring it
    uint64_t looks = 0;        // that found somebody waiting
    LineShares waiting_at;
};

// The slowest first.
std::vector<SlowStage> slow_stages(const DiagnosisInput& input, const WaitReplay& replay);

} // namespace plumb
