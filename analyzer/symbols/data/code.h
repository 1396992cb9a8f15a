// What the machine code around an access tells about where its address came from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace plumb::symbols {

// The memory operand of the access: base register by DWARF number, -1: none.
struct AccessOperand {
    int base = -1;
    bool has_index = false;
    bool is_thread_local = false; // relative to FS
    int64_t displacement = 0;
};

// Of the first operand of `width` bytes (0: any), or the first of all. `machine`: of the code's ELF file. Nothing: no decoder here
// for that machine, or no memory operand.
std::optional<AccessOperand> operand_of(const std::vector<uint8_t>& code, uint32_t width, int machine);

// A slot on the stack: an offset from the register that addresses the frame.
struct StackSlot {
    int register_number = -1; // 6 rbp, 7 rsp
    int64_t displacement = 0;
    bool moved = false; // something was added to the value since
};

// Of x86-64 code. Unoptimised code fetches a pointer from its home on the stack, adds to it, and uses it: the slot that the value of
// `register_number` was loaded from, seen from the end of `code`. `code` begins at an instruction and ends where the
// access begins. Nothing: it came from elsewhere, or over a branch.
std::optional<StackSlot> origin_of(std::span<const uint8_t> code, int register_number);

} // namespace plumb::symbols
