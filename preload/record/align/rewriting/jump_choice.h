// How a jump of five bytes may be put in place of one instruction, which may be shorter, without changing any other.
#pragma once

#include "platform/code/near_code.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Bytes that are looked at from the instruction on: its own and those that follow.
inline constexpr size_t kJumpWindow = 24;
inline constexpr int kMostJumpChoices = 15;

struct JumpChoice {
    uint8_t prefixes;     // bytes in front of the jump's opcode that the processor ignores there
    AddressRange targets; // where such a jump can go
};

// The choices for the instruction of `length` bytes at `address`, the widest first, none with less than 256 targets.
// Its first `kept` bytes must stay as they are: they serve as prefixes, or nothing can be done.
int jump_choices(const uint8_t* code, uint64_t address, uint8_t length, uint8_t kept,
                 JumpChoice choices[kMostJumpChoices]);

// The instruction's `length` bytes with the jump to `target` in their place; what remains behind it is never executed.
void write_jump(const JumpChoice& choice, const uint8_t* code, uint64_t address, uint8_t length, uint8_t kept,
                uint64_t target, uint8_t* bytes);

} // namespace plumb::shim
