// A small heap for allocations that arrive before the real allocator can be named: looking it up (dlsym) allocates.
// Its blocks live for ever; freeing them does nothing.
#pragma once

#include <stddef.h>

namespace plumb::shim {

// Zeroed; null: the buffer is used up. `alignment` is a power of two. Signal-safe, thread-safe.
void* early_allocate(size_t bytes, size_t alignment);

bool is_early_block(const void* block);
size_t early_block_bytes(const void* block);

} // namespace plumb::shim
