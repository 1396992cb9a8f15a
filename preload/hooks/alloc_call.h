// A call of the real allocator with what is recorded around it.
#pragma once

#include "hooks/real_functions.h"
#include "record/heap/heap_events.h"

#define PLUMB_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PLUMB_NOINLINE __attribute__((noinline))

namespace plumb::shim {

// The frame that called the hook whose frame pointer this is.
inline Frame caller_of(const void* hook_frame) {
    const uint64_t* const frame = static_cast<const uint64_t*>(hook_frame);
    return {frame[1], reinterpret_cast<uint64_t>(frame + 2), frame[0], false};
}

// Keeps the call before it from becoming a jump, which would pop the frame that the callee reads.
template <class Result> inline Result stay(Result result) {
    asm volatile("" : "+r"(result));
    return result;
}

// `call` returns the block, null if it failed.
template <class Call> inline void* record_allocation(size_t bytes, const void* hook_frame, Call call) {
    if (heap_mode == HeapMode::off)
        return call();
    const PendingAllocation pending = begin_allocation(bytes);
    void* const block = call();
    end_allocation(pending, block, caller_of(hook_frame));
    return block;
}

template <class Call> inline void record_free(void* block, Call call) {
    if (heap_mode == HeapMode::off)
        return call();
    const PendingFree pending = begin_free(block);
    call();
    end_free(pending);
}

} // namespace plumb::shim
