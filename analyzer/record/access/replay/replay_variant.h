// One way to run a loop again, ready in memory of plumb's own, and two of them timed in turns. In a child process: what runs is made
// of the program's instructions.
#pragma once

#include "platform/anonymous_memory.h"
#include "record/access/loops/replayable_loop.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plumb::record {

struct ReplayForm {
    std::span<const ReplayInstruction> instructions;
    std::vector<LoopAccess> accesses;
    uint64_t rounds = 1;       // of a sweep over its memory, before it begins anew
    uint64_t work = 1;         // rounds of the loop that one round of this form does the work of
    uint64_t unrolled = 1;     // rounds in a row
    bool folds = false;        // see ReplayPlan
    unsigned element_bytes = 0; // 8: memory and vector registers hold doubles, 4: floats, 0: zero
};

class ReplayVariant {
  public:
    explicit ReplayVariant(ReplayForm form);
    bool works() const { return works_; } // no: see replay_code(), and where more than 4 MiB would be needed
    uint64_t work() const { return work_; } // of a sweep, in rounds of the loop
    uint64_t run_ns(uint64_t sweeps);

  private:
    platform::AnonymousMemory code_; // its last page holds the counters
    std::optional<platform::AnonymousMemory> memory_;
    uint64_t work_ = 1;
    bool works_ = false;
};

struct ReplayedPair {
    uint64_t seen_ps = 0, other_ps = 0; // of as much work as one round of the loop, 0: not measured
    uint64_t spread_ps = 0;             // the standard error of other_ps
};

// The one as the program has it, and another. Some hundred microseconds, on a busy machine up to some milliseconds. Both must work.
ReplayedPair time_in_turns(ReplayVariant& seen, ReplayVariant& other);

} // namespace plumb::record
