// A small heap for allocations that arrive before the real allocator can be named: looking it up (dlsym) allocates.
// Its blocks live for ever; freeing them does nothing.
#pragma once

#include "platform/os/hidden.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Zeroed; null: the buffer is used up. `alignment` is a power of two. Signal-safe, thread-safe.
void* early_allocate(size_t bytes, size_t alignment);

inline constexpr size_t kEarlyBytes = 64 * 1024; // the loader and dlsym need a few hundred
extern char early_buffer[kEarlyBytes] PLUMB_HIDDEN;

inline bool is_early_block(const void* block) {
    return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(early_buffer) < kEarlyBytes;
}

size_t early_block_bytes(const void* block);

} // namespace plumb::shim
