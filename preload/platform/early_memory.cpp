#include "platform/early_memory.h"

#include <stdint.h>

namespace plumb::shim {
namespace {

constexpr size_t kBufferBytes = 64 * 1024; // the loader and dlsym need a few hundred
alignas(4096) char buffer[kBufferBytes];
size_t used;

} // namespace

void* early_allocate(size_t bytes, size_t alignment) {
    if (alignment < 16)
        alignment = 16;
    if (bytes > kBufferBytes || alignment > 4096)
        return nullptr;
    size_t old = __atomic_load_n(&used, __ATOMIC_RELAXED), start;
    do {
        start = (old + sizeof(size_t) + alignment - 1) & ~(alignment - 1); // its size stands before it
        if (start + bytes > kBufferBytes)
            return nullptr;
    } while (!__atomic_compare_exchange_n(&used, &old, start + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    reinterpret_cast<size_t*>(buffer + start)[-1] = bytes;
    return buffer + start;
}

bool is_early_block(const void* block) {
    return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(buffer) < kBufferBytes;
}

size_t early_block_bytes(const void* block) { return static_cast<const size_t*>(block)[-1]; }

} // namespace plumb::shim
