// Loops that only wait: from round to round nothing changes but what other threads write to the memory that is loaded.
// Decided on code alone, and only where it is sure: what computes must never count as waiting.
#pragma once

#include "record/access/code/code_region.h"
#include "record/perf/perf_record.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace plumb::record {

struct WaitLoop {
    uint64_t begin = 0, end = 0; // addresses: of the first instruction, and behind the last one
    uint64_t instruction = 0;    // that looks at the variable; not known where the loop only counts, with PAUSE
    unsigned width = 0;          // bytes that it looks at, 0: not known
    bool pauses = false;         // the loop contains PAUSE
    bool stores = false;         // it tries to take what it waits for: a locked exchange
    bool yields = false;         // it makes calls that give the CPU away
    uint64_t yield_return = 0;   // where the last one of these returns to
    shim::MemoryOperand operand{}; // by which it looks; meaningless where `instruction` is not known
    uint8_t length = 0;            // of `instruction`

    // `instruction` is known.
    bool looks() const { return width != 0; }
    WaitLoop moved_by(uint64_t distance) const {
        return {begin + distance, end + distance, looks() ? instruction + distance : 0, width, pauses, stores,
                yields, yields ? yield_return + distance : 0, operand, length};
    }
    // Where the variable lies, by the registers of a sample in a function that the loop calls and that only yields. Nothing: it is
    // not known.
    std::optional<uint64_t> address_at_call(const PerfRecord& sample) const;
};

// Whether the call at `address` does nothing but give its CPU away, see yield_call.h.
using YieldTest = std::function<bool(uint64_t address)>;

// The innermost loop around the instruction at `sampled`, if it only waits. A loop waits if no register and no slot of the
// stack frame is made of its own value of the round before, if it stores nowhere but in such slots, and if it loads. There
// are two exceptions. With PAUSE or a yield in it, a count of rounds may be kept, as long as no address depends on it. A locked
// xchg, bts or cmpxchg may store what depends on nothing that was loaded: a compare-and-swap that stores what it made of the
// loaded value makes progress. Loops with time stamps, with calls of functions that do anything but yield, or that use
// vector registers are not decided; but constants may be loaded into these, which calls do not preserve. `only_yields`: empty: no
// call is known to.
std::optional<WaitLoop> wait_loop_around(const CodeRegion& code, uint64_t sampled, const YieldTest& only_yields = {});

} // namespace plumb::record
