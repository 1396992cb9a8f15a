// The addresses that one instruction goes to in rounds that follow one another, which time samples cannot tell: thousands
// of rounds lie between two of them. For a moment the processor itself stops at the instruction (a breakpoint by perf
// events, which the kernel takes off after so many rounds), and the registers tell the address. A round costs the program
// about 7 us; no signal is sent and no code is changed.
#pragma once

#include "platform/code/memory_instruction.h"
#include "record/perf/perf_ring.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace plumb::record {

struct WatchedAccess {
    uint32_t tid = 0;         // the thread whose rounds are watched
    uint64_t instruction = 0; // address
    uint8_t length = 0;       // of the instruction, bytes
    shim::MemoryOperand operand{};
};

class AccessBurst {
  public:
    static constexpr size_t kRounds = 64;

    virtual ~AccessBurst() = default;
    // What came so far, in the order of the program; at most a few more than kRounds.
    virtual const std::vector<uint64_t>& addresses() = 0;
};

// Begins at once. Null: it cannot be watched (the thread has ended, breakpoints are in use or forbidden).
using StartBurst = std::function<std::unique_ptr<AccessBurst>(const WatchedAccess&)>;
std::unique_ptr<AccessBurst> start_burst(const WatchedAccess& access);

// Of accesses that follow one another, the part that needs a page which the few before did not: neither theirs nor one
// beside it. Near 1 for random places, near 0 for a sweep and for blocks that are gone through in order, wherever they lie.
double new_page_fraction(const std::vector<uint64_t>& addresses);

} // namespace plumb::record
