// One machine instruction of a function, as the analysis of loops needs it: where control goes on, which registers it reads and
// writes, what it computes.
#pragma once

#include "code/operation_names.h"
#include "platform/code/memory_instruction.h" // of the shim: one decoder for both sides
#include "record/access/code/register_step.h"

#include <cstdint>
#include <optional>
#include <span>

namespace plumb::code {

// Bit n: general register n by its DWARF number (0 to 15), vector register n - 16 whatever its width (16 to 47), the x87 stack
// (48).
using RegisterSet = uint64_t;
inline constexpr int kGeneralRegisters = 16, kFirstVector = 16, kVectors = 32, kX87 = 48;
inline constexpr RegisterSet kVectorRegisters = ((RegisterSet{1} << kVectors) - 1) << kFirstVector | RegisterSet{1} << kX87;

enum class Flow : uint8_t {
    next,
    jump,   // to `target`; 0: to where is not known
    branch, // to `target`, or on
    call,   // of `target`, 0: not known; comes back
    end,    // return, or an instruction that ends the function
};

struct Instruction {
    uint64_t address = 0;
    Flow flow = Flow::next;
    uint64_t target = 0;
    shim::MemoryInstruction memory; // its length and what it accesses
    record::RegisterStep step;      // what it does to a general register
    RegisterSet reads = 0, writes = 0;
    RegisterSet addends = 0; // of the vector registers it reads, those that are only added to something or subtracted
    Operation operation;
    unsigned vector_bytes = 0;          // of its widest vector register
    bool converts_wide_integer = false; // of 64 bits: only AVX-512 does several at once

    uint64_t end() const { return address + memory.length; }
    bool loads() const;
    bool stores() const;
};

// `code` begins with it and may hold more. Nothing: it is no instruction, or cut off. The decoder must be loaded
// (shim::load_decoder). About 2 us.
std::optional<Instruction> decode_instruction(uint64_t address, std::span<const uint8_t> code);

} // namespace plumb::code
