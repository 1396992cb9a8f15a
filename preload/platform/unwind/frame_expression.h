// DWARF expressions of call-frame information, as far as their value follows from the stack and frame pointers. Signal-safe.
#pragma once

#include "platform/unwind/frame_cursor.h"

namespace plumb::shim::cfi {

// A value that is known before the program runs: a number, or a register plus a number, or what is stored there plus a number.
struct Value {
    enum Base : uint8_t { number, sp, bp, unknown } base = unknown;
    bool loaded = false;
    int64_t offset = 0;
    int64_t addend = 0; // to what was loaded
};

// DWARF expressions, evaluated at `pc` as far as they are static. That covers procedure linkage tables
// (rsp + 8 + (pc in the second half of the slot ? 8 : 0)), realigned stacks (*(rbp - 8)), and assembler that keeps the rsp that it
// was called with (*(rsp + 128) + 8).
Value evaluate(Cursor expression, uint64_t pc);

} // namespace plumb::shim::cfi
