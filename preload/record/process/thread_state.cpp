#include "record/process/thread_state.h"

#include "platform/os/memory.h"

#include <new>
#include <stddef.h>

namespace plumb::shim {
namespace {

constexpr uint32_t kSlabStates = 128;
constexpr uint32_t kSlabsMax = 512; // 65,536 threads at a time

std::atomic<ThreadState*> slabs[kSlabsMax];
std::atomic<uint32_t> handed_out; // states with index < handed_out have been used at least once

// Head of the list of free states: index + 1 below, a counter above, so that a state which was taken and given
// back between a load and its exchange is not mistaken for an unchanged list.
std::atomic<uint64_t> free_list;

ThreadState* slab_of(uint32_t index) {
    std::atomic<ThreadState*>& place = slabs[index / kSlabStates];
    ThreadState* slab = place.load(std::memory_order_acquire);
    if (slab)
        return slab;
    constexpr size_t bytes = sizeof(ThreadState) * kSlabStates;
    void* pages = allocate_pages(bytes, true);
    if (!pages)
        return nullptr;
    if (!place.compare_exchange_strong(slab, static_cast<ThreadState*>(pages), std::memory_order_acq_rel)) {
        release_pages(pages, bytes);
        return slab;
    }
    return static_cast<ThreadState*>(pages);
}

ThreadState* take_free() {
    uint64_t head = free_list.load(std::memory_order_acquire);
    while (uint32_t(head) != 0) {
        ThreadState* state = thread_state_at(uint32_t(head) - 1);
        const uint64_t next = state->next_free.load(std::memory_order_relaxed);
        const uint64_t tag = (head >> 32) + 1;
        if (free_list.compare_exchange_weak(head, tag << 32 | next, std::memory_order_acq_rel)) {
            state->index = uint32_t(head) - 1; // in a child of a raw fork it was wiped
            return state;
        }
    }
    return nullptr;
}

ThreadState* take_unused() {
    uint32_t index = handed_out.load(std::memory_order_relaxed);
    do {
        if (index >= kSlabStates * kSlabsMax || !slab_of(index))
            return nullptr;
    } while (!handed_out.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
    ThreadState* const state = slab_of(index) + index % kSlabStates;
    state->index = index;
    return state;
}

ThreadState* begin_state(ThreadState* state) {
    if (!state)
        return nullptr;
    state->tid = 0;
    state->pending_bytes = 0;
    state->guard_frame.store(0, std::memory_order_relaxed);
    state->handle.store(0, std::memory_order_relaxed);
    state->stack = {};
    state->start_routine = nullptr;
    state->start_argument = nullptr;
    state->creator_tid = 0;
    state->creation_path = 0;
    state->held_back = 0;
    state->end_rounds = 0;
    state->start_written = false;
    state->refusals = 0;
    state->left_behind = nullptr;
    return state;
}

} // namespace

__thread ThreadState* this_thread = nullptr;
constinit ThreadState ended_thread = {};

ThreadState* allocate_thread_state() {
    ThreadState* const state = take_free();
    return begin_state(state ? state : take_unused());
}

ThreadState* allocate_unused_thread_state() { return begin_state(take_unused()); }

void release_thread_state(ThreadState* state) {
    state->live.store(0, std::memory_order_relaxed);
    state->handle.store(0, std::memory_order_relaxed);
    uint64_t head = free_list.load(std::memory_order_relaxed);
    uint64_t next;
    do {
        state->next_free.store(uint32_t(head), std::memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (state->index + 1);
    } while (!free_list.compare_exchange_weak(head, next, std::memory_order_acq_rel));
}

uint32_t thread_state_count() { return handed_out.load(std::memory_order_acquire); }

ThreadState* thread_state_at(uint32_t index) {
    ThreadState* slab = slabs[index / kSlabStates].load(std::memory_order_acquire);
    return slab ? slab + index % kSlabStates : nullptr;
}

void reset_thread_states() {
    free_list.store(0, std::memory_order_relaxed);
    const uint32_t used = handed_out.exchange(0, std::memory_order_relaxed);
    for (uint32_t index = 0; index < used; ++index) // already zero unless the kernel does not know the advice
        if (ThreadState* state = thread_state_at(index))
            new (state) ThreadState{};
    this_thread = nullptr;
}

static_assert(offsetof(ThreadState, guard_frame) / 64 == offsetof(ThreadState, collector_data) / 64);

} // namespace plumb::shim
