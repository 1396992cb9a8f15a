// malloc and similar calls.
//
// What must hold:
//  - With the collector off a call costs a few branches that always go the same way.
//  - In sample mode the common case (not sampled, not large, not the thread's largest yet) touches the thread's own
//    counters only and goes straight to the real function.
//    Who counts does so in a record that was begun after the real functions were found.
//  - No guard is held while the real function runs: it may call other hooks, and may be left by a signal.
//  - Blocks of the early buffer never reach the real allocator.
//  - What the shim's start allocates (the loader's records of libZydis, texts of failed lookups) does not reach it either: the
//    program's first blocks begin where they would without the shim, as some of what is reported depends on that.
//  - The caller's frame is read from the hook's own frame, so whatever uses it must be called, not jumped to.
#include "hooks/alloc_call.h"
#include "platform/os/early_memory.h"
#include "record/process/shim_start.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

using namespace plumb::shim;

namespace {

// A block of the early buffer is remembered by the filter, so that free() looks closer at it.
void* allocate_early(size_t bytes, size_t alignment) {
    void* block = early_allocate(bytes, alignment);
    if (block)
        watch_always(block);
    else
        errno = ENOMEM;
    return block;
}

template <class Call> void* allocate(size_t bytes, size_t alignment, OwnFrame hook_frame, Call call) {
    const RealFunctions* real = real_functions();
    if (PLUMB_UNLIKELY(!real || ShimStart::is_under_way()))
        if (void* const block = allocate_early(bytes, alignment); block || !real)
            return block;
    return record_allocation(bytes, hook_frame, [=] { return call(*real); });
}

PLUMB_NOINLINE void* closer_malloc(size_t bytes, OwnFrame hook_frame) {
    return allocate(bytes, 0, hook_frame, [=](const RealFunctions& real) { return real.malloc(bytes); });
}

PLUMB_NOINLINE void* closer_calloc(size_t count, size_t size, size_t bytes, OwnFrame hook_frame) {
    return allocate(bytes, 0, hook_frame, [=](const RealFunctions& real) { return real.calloc(count, size); });
}

PLUMB_NOINLINE void closer_free(void* block) {
    if (is_early_block(block))
        return;
    const RealFunctions* real = real_functions();
    if (PLUMB_UNLIKELY(!real)) // while the table is filled nothing but early blocks can be freed
        return;
    record_free(block, [=] { real->free(block); });
}

// A block of the early buffer grows: it moves to the real heap.
void* leave_early_buffer(void* block, size_t bytes, OwnFrame hook_frame) {
    void* const moved = closer_malloc(bytes, hook_frame);
    const size_t former = early_block_bytes(block);
    if (moved)
        memcpy(moved, block, former < bytes ? former : bytes);
    return moved;
}

template <class Call> void* reallocate(void* block, size_t bytes, OwnFrame hook_frame, Call call) {
    if (!block)
        return allocate(bytes, 0, hook_frame, call);
    if (PLUMB_UNLIKELY(is_early_block(block)))
        return leave_early_buffer(block, bytes, hook_frame);
    const RealFunctions* real = real_functions();
    if (PLUMB_UNLIKELY(!real))
        return nullptr;
    if (heap_mode == HeapMode::off)
        return call(*real);
    const PendingReallocation pending = begin_reallocation(block, bytes);
    void* const moved = call(*real);
    end_reallocation(pending, moved, caller_of(hook_frame));
    return moved;
}

PLUMB_NOINLINE void* closer_realloc(void* block, size_t bytes, OwnFrame hook_frame) {
    return reallocate(block, bytes, hook_frame, [=](const RealFunctions& real) { return real.realloc(block, bytes); });
}

PLUMB_NOINLINE void* closer_reallocarray(void* block, size_t count, size_t size, size_t bytes,
                                         OwnFrame hook_frame) {
    return reallocate(block, bytes, hook_frame,
                      [=](const RealFunctions& real) { return real.reallocarray(block, count, size); });
}

// Where the collector is off there is nothing to do but to call the real functions.
inline const RealFunctions* unrecorded() {
    return PLUMB_UNLIKELY(heap_mode == HeapMode::off) && !ShimStart::is_under_way()
               ? published_functions.load(std::memory_order_acquire)
               : nullptr;
}

// A product that does not fit becomes a size that no allocator grants.
size_t product(size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

size_t page_rounded(size_t bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes > SIZE_MAX - page ? bytes : (bytes + page - 1) / page * page;
}

} // namespace

extern "C" {

void* hook_malloc(size_t bytes) {
    ThreadHeap* const heap = counting_heap();
    if (__builtin_expect(heap != nullptr, 1) && count_plain_allocation(heap, bytes)) {
        void* const block = filled_functions.malloc(bytes);
        if (PLUMB_UNLIKELY(!block))
            uncount_plain_allocation(bytes);
        return block;
    }
    if (const RealFunctions* real = unrecorded())
        return real->malloc(bytes);
    return stay(closer_malloc(bytes, PLUMB_OWN_FRAME()));
}

void* hook_calloc(size_t count, size_t size) {
    const size_t bytes = product(count, size);
    ThreadHeap* const heap = counting_heap();
    if (__builtin_expect(heap != nullptr, 1) && count_plain_allocation(heap, bytes)) {
        void* const block = filled_functions.calloc(count, size);
        if (PLUMB_UNLIKELY(!block))
            uncount_plain_allocation(bytes);
        return block;
    }
    if (const RealFunctions* real = unrecorded())
        return real->calloc(count, size);
    return stay(closer_calloc(count, size, bytes, PLUMB_OWN_FRAME()));
}

void hook_free(void* block) {
    ThreadHeap* const heap = counting_heap();
    if (__builtin_expect(heap != nullptr, 1) && !may_be_watched(block)) {
        add_to(heap->totals->frees, 1);
        return filled_functions.free(block);
    }
    if (const RealFunctions* real = unrecorded(); real && !is_early_block(block))
        return real->free(block);
    closer_free(block);
}

void* hook_realloc(void* block, size_t bytes) {
    ThreadHeap* const heap = counting_heap();
    if (heap && !may_be_watched(block) && count_plain_reallocation(heap, bytes)) { // null is always watched
        void* const moved = filled_functions.realloc(block, bytes);
        if (PLUMB_UNLIKELY(!moved))
            uncount_plain_reallocation(bytes);
        return moved;
    }
    if (const RealFunctions* real = unrecorded(); real && !is_early_block(block))
        return real->realloc(block, bytes);
    return stay(closer_realloc(block, bytes, PLUMB_OWN_FRAME()));
}

void* hook_reallocarray(void* block, size_t count, size_t size) {
    return stay(closer_reallocarray(block, count, size, product(count, size), PLUMB_OWN_FRAME()));
}

int hook_posix_memalign(void** place, size_t alignment, size_t bytes) {
    const RealFunctions* real = real_functions();
    if (PLUMB_UNLIKELY(!real))
        return (*place = allocate_early(bytes, alignment)) ? 0 : ENOMEM;
    int error = 0;
    record_allocation(bytes, PLUMB_OWN_FRAME(), [&]() -> void* {
        error = real->posix_memalign(place, alignment, bytes);
        return error ? nullptr : *place;
    });
    return error;
}

void* hook_aligned_alloc(size_t alignment, size_t bytes) {
    return stay(allocate(bytes, alignment, PLUMB_OWN_FRAME(),
                         [=](const RealFunctions& real) { return real.aligned_alloc(alignment, bytes); }));
}

void* hook_memalign(size_t alignment, size_t bytes) {
    return stay(allocate(bytes, alignment, PLUMB_OWN_FRAME(),
                         [=](const RealFunctions& real) { return real.memalign(alignment, bytes); }));
}

void* hook_valloc(size_t bytes) {
    return stay(allocate(bytes, 4096, PLUMB_OWN_FRAME(),
                         [=](const RealFunctions& real) { return real.valloc(bytes); }));
}

void* hook_pvalloc(size_t bytes) {
    return stay(allocate(page_rounded(bytes), 4096, PLUMB_OWN_FRAME(),
                         [=](const RealFunctions& real) { return real.pvalloc(bytes); }));
}

size_t hook_malloc_usable_size(void* block) {
    if (PLUMB_UNLIKELY(is_early_block(block)))
        return early_block_bytes(block);
    const RealFunctions* real = real_functions();
    return real ? real->malloc_usable_size(block) : 0;
}
}
