// What one instruction of A64 (the 64-bit instruction set of Arm) does to memory and to general registers, from its encoding. Pure
// functions: they serve files of other machines, too. Registers have their DWARF numbers: 0 to 30 x0 to x30, 31 sp.
// Source of all encodings: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1 "A64 instruction set encoding".
#pragma once

#include "platform/code/memory_instruction.h"

#include <stdint.h>

namespace plumb::shim::a64 {

inline constexpr int kLink = 30, kStack = 31, kBytes = 4;

// The bits [high, low] of the instruction.
constexpr uint32_t bits(uint32_t word, int high, int low) { return word >> low & (~uint32_t{0} >> (31 - (high - low))); }
constexpr bool bit(uint32_t word, int number) { return (word >> number & 1) != 0; }
constexpr int64_t signed_bits(uint32_t word, int high, int low) {
    const int unused = 63 - (high - low);
    return static_cast<int64_t>(static_cast<uint64_t>(bits(word, high, low)) << unused) >> unused;
}

// Branches, calls, returns, and what makes exceptions; not hints and barriers.
bool is_branch(uint32_t word);

// False: not allocated, as far as this is known (words of data amid the code are).
bool is_instruction(uint32_t word);

// Of instructions whose address or width does not follow from general registers and the encoding (scalable vectors, signed
// pointers, tags, cache lines) `gather` is set and no operand is described. Those that load from a constant distance have no operand
// either: what they load is constant. False: not an instruction.
bool decode(uint32_t word, MemoryInstruction* instruction);

} // namespace plumb::shim::a64
