#include "hooks/mpi/statuses.h"

#include "platform/os/memory.h"

#include <atomic>

namespace plumb::shim::mpi {
namespace {

// Blocks that are not in use. Threads come and go, the blocks stay for the next.
constexpr uint32_t kKept = 64;
constinit std::atomic<StatusMemory*> kept[kKept]{};

} // namespace

StatusMemory* borrow_status_memory(size_t bytes) {
    if (bytes > kMostStatusBytes)
        return nullptr;
    for (std::atomic<StatusMemory*>& place : kept) {
        if (!place.load(std::memory_order_relaxed))
            continue;
        StatusMemory* const block = place.exchange(nullptr, std::memory_order_acquire);
        if (block && block->bytes >= bytes)
            return block;
        if (block)
            release_pages(block, sizeof(StatusMemory) + block->bytes);
    }
    const size_t room = (2 * bytes + 65535) & ~size_t{65535};
    auto* const block = static_cast<StatusMemory*>(allocate_pages(sizeof(StatusMemory) + room, false));
    if (block)
        block->bytes = room;
    return block;
}

void return_status_memory(StatusMemory* block) {
    for (std::atomic<StatusMemory*>& place : kept) {
        StatusMemory* free = nullptr;
        if (place.compare_exchange_strong(free, block, std::memory_order_release))
            return;
    }
    release_pages(block, sizeof(StatusMemory) + block->bytes);
}

} // namespace plumb::shim::mpi
