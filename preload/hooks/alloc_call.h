// A call of the real allocator with what is recorded around it.
#pragma once

#include "hooks/real_functions.h"
#include "record/heap/heap_events.h"

#define PLUMB_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PLUMB_NOINLINE __attribute__((noinline))

namespace plumb::shim {

// The frame that called the hook whose frame this is.
inline Frame caller_of(OwnFrame hook_frame) {
    const uint64_t* const record = record_of(hook_frame);
    return caller_frame(record[1], caller_sp(hook_frame), record[0], reinterpret_cast<uint64_t>(record + 1));
}

// Keeps the call before it from becoming a jump, which would pop the frame that the callee reads.
template <class Result> inline Result stay(Result result) {
    asm volatile("" : "+r"(result));
    return result;
}

// `call` returns the block, null if it failed.
template <class Call> inline void* record_allocation(size_t bytes, OwnFrame hook_frame, Call call) {
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
