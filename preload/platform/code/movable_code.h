// Which instructions may be executed at another address than their own, with the same effect (x86-64).
#pragma once

#include "platform/code/memory_instruction.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

struct MovableCode {
    uint8_t bytes[16]; // the instruction as it stands in the program
    uint8_t length;
    uint8_t displacement_at;    // of the 4 displacement bytes of an operand relative to the next instruction; 0: none
    uint64_t relative_target;   // what such an operand means
};

// Whether the instruction at `address`, whose `length` bytes are `code`, is one that is known to do the same anywhere:
// one explicit memory operand, no use of its own address but by that operand, no branch, no string instruction, no
// segment register, no change of the stack pointer. What is not known is refused. Signal-safe.
bool make_movable(const uint8_t* code, uint64_t address, const MemoryInstruction& decoded, MovableCode* movable);

// Writes the instruction's bytes as they must be at `at`; false: the operand is out of reach from there.
bool move_code(const MovableCode& movable, uint8_t* bytes, uint64_t at);

} // namespace plumb::shim
