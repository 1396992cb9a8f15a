#include "platform/os/early_memory.h"

namespace plumb::shim {

alignas(4096) char early_buffer[kEarlyBytes];

namespace {
size_t used;
}

void* early_allocate(size_t bytes, size_t alignment) {
    if (alignment < 16)
        alignment = 16;
    if (bytes > kEarlyBytes || alignment > 4096)
        return nullptr;
    size_t old = __atomic_load_n(&used, __ATOMIC_RELAXED), start;
    do {
        start = (old + sizeof(size_t) + alignment - 1) & ~(alignment - 1); // its size stands before it
        if (start + bytes > kEarlyBytes)
            return nullptr;
    } while (!__atomic_compare_exchange_n(&used, &old, start + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    reinterpret_cast<size_t*>(early_buffer + start)[-1] = bytes;
    return early_buffer + start;
}

size_t early_block_bytes(const void* block) { return static_cast<const size_t*>(block)[-1]; }

} // namespace plumb::shim
