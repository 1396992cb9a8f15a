// A64 as loops are followed through it: where jumps lead, what instructions do to registers and flags. What code_region.h,
// register_step.h, register_use.h and yield_call.h ask of instructions is answered by this on aarch64.
#pragma once

#include "record/access/code/code_region.h"
#include "record/access/code/register_step.h"
#include "record/access/code/register_use.h"

#include <cstdint>
#include <span>

namespace plumb::record::a64 {

// The first 4 bytes; 0, which is no instruction, where there are fewer.
uint32_t word_of(std::span<const uint8_t> code);

Jump jump_at(uint64_t address, uint32_t word);
bool is_call(uint32_t word);

// Whether a conditional jump looks at a register, not at the flags: its number; -1: at the flags, or it is none.
int register_looked_at(uint32_t word);

// As register_step(); of cbz and similar instructions `compared` is what they look at. Of loads and stores that move their base
// register on, that is the step.
RegisterStep register_step(uint32_t word);

bool keeps_flags(uint32_t word);

// As decode_register_use().
bool decode_register_use(uint32_t word, RegisterUse* use);

} // namespace plumb::record::a64
