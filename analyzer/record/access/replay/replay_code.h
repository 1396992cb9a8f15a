// Machine code that runs a loop again: its own instructions, some rounds of them in a row, with all memory operands replaced
// by places that the caller gives.
#pragma once

#include "record/access/loops/replayable_loop.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plumb::record {

struct ReplayPlan {
    std::span<const ReplayInstruction> instructions;
    std::vector<LoopAccess> accesses; // where the first round makes them
    uint64_t unrolled = 1;            // rounds in a row, of which `passes` make a sweep; the next sweep begins anew
    uint64_t passes = 1;
    // As compilers do for aligned data: a vector that is loaded for one operation alone becomes an operand of that (before AVX,
    // operands in memory must be aligned).
    bool folds = false;
    // Whether to begin with the 16 bytes at `counters + 32` in all vector registers (twice where 32 are used), instead of zero: what
    // an instruction takes may depend on the number.
    bool fills = false;
};

// The code of a function void(void): it makes so many sweeps as the 8 bytes at `counters + 8` say; these, and the 8 bytes before
// them, it may change. Empty: the decoder's library is missing, an instruction cannot be
// encoded anew, or the loop leaves too few registers unused. `counters` must lie within 2 GiB of `place`, where the code will
// run, and so must the accesses of one `round` lie of one another.
std::vector<uint8_t> replay_code(const ReplayPlan& plan, uint64_t place, uint64_t counters);

} // namespace plumb::record
