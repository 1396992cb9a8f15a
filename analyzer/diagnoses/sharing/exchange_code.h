// Tells instructions that take locks from those that only count.
#pragma once

#include <cstdint>
#include <span>

namespace plumb {

// An x86-64 instruction that compares and exchanges, exchanges with memory, or tests and sets a bit. Nothing else that may
// bear a LOCK prefix decides by what was there before.
bool is_exchange(std::span<const uint8_t> code);

} // namespace plumb
