// Loops that only wait: from round to round nothing changes but what other threads write to the memory that is loaded.
// Decided on code alone, and only where it is sure: what computes must never count as waiting.
#pragma once

#include "record/access/code/code_region.h"

#include <cstdint>
#include <optional>

namespace plumb::record {

struct WaitLoop {
    uint64_t begin = 0, end = 0; // addresses: of the first instruction, and behind the last one
    uint64_t instruction = 0;    // that looks at the variable; not known where the loop only counts, with PAUSE
    unsigned width = 0;          // bytes that it looks at, 0: not known
    bool pauses = false;         // the loop contains PAUSE
    bool stores = false;         // it tries to take what it waits for: a locked exchange

    // `instruction` is known.
    bool looks() const { return width != 0; }
    WaitLoop moved_by(uint64_t distance) const {
        return {begin + distance, end + distance, looks() ? instruction + distance : 0, width, pauses, stores};
    }
};

// The innermost loop around the instruction at `sampled`, if it only waits. A loop waits if no register and no slot of the
// stack frame is made of its own value of the round before, if it stores nowhere but in such slots, and if it loads. There
// are two exceptions. With PAUSE in it, a count of rounds may be kept, as long as no address depends on it. A locked xchg,
// bts or cmpxchg may store what depends on nothing that was loaded: a compare-and-swap that stores what it made of the
// loaded value makes progress. Loops with calls, vector registers or time stamps are not decided.
std::optional<WaitLoop> wait_loop_around(const CodeRegion& code, uint64_t sampled);

} // namespace plumb::record
