// What the allocation hooks report. Each function takes its own guard: an allocation made while the shim records is
// not recorded. None is called with a lock held, none blocks, all keep errno.
//
// Order that must hold: a block is recorded after the allocator gave it and before the program learns it; it is
// forgotten before the allocator takes it back, because another thread may own the address a moment later.
#pragma once

#include "platform/os/hidden.h"
#include "record/heap/heap_shadow.h"
#include "record/heap/heap_thread.h"
#include "record/heap/large_block_index.h"
#include "record/heap/large_blocks.h"
#include "record/heap/mapping_list.h"
#include "record/heap/sampled_blocks.h"
#include "record/process/call_timer.h"

namespace plumb::shim {

enum class HeapMode : uint32_t { off, sample, full };
extern HeapMode heap_mode PLUMB_HIDDEN; // changes at start and in forked children only

// The calling thread's heap if its events may be counted without a closer look; else null.
inline ThreadHeap* counting_heap() {
    ThreadState* const thread = this_thread;
    if (__builtin_expect(!thread, 0))
        return nullptr;
    ThreadHeap* const heap = thread->data<ThreadHeap>(ThreadSlot::heap_counting);
    if (__builtin_expect(!heap || thread->is_inside(), 0))
        return nullptr;
    return heap;
}

// A request of (size - 1) below this is counted without a closer look, once the thread has made a larger one.
inline constexpr uint64_t kPlainBelow = kIndexedBlockBytes - 1;

// Sample mode: counts an allocation that is neither sampled nor otherwise remarkable; false: nothing was counted.
inline bool count_plain_allocation(ThreadHeap* heap, uint64_t bytes) {
    trace::HeapTotals* const totals = heap->totals;
    const uint64_t total = totals->allocated_bytes + bytes;
    if (__builtin_expect(total >= heap->sample_at || bytes - 1 >= heap->admit_below, 0))
        return false;
    __atomic_store_n(&totals->allocated_bytes, total, __ATOMIC_RELAXED);
    add_to(totals->allocations, 1);
    return true;
}

// The same for the reallocation of a block that is not watched.
inline bool count_plain_reallocation(ThreadHeap* heap, uint64_t bytes) {
    if (!count_plain_allocation(heap, bytes))
        return false;
    add_to(heap->totals->allocations, ~uint64_t{0});
    add_to(heap->totals->reallocations, 1);
    return true;
}

// The allocator refused what the calling thread counted.
void uncount_plain_allocation(uint64_t bytes);
void uncount_plain_reallocation(uint64_t bytes);

struct PendingAllocation {
    uint64_t bytes;
    CallTimer timer;
};
PendingAllocation begin_allocation(uint64_t bytes);
void end_allocation(const PendingAllocation&, void* block, const Frame& caller); // block null: it failed

struct PendingFree {
    trace::HeapSite* site; // null: the call is not timed
    CallTimer timer;
};
PendingFree begin_free(void* block);
void end_free(const PendingFree&);

// Reallocation of a live block. To size 0 it is a free when the allocator returns null, as glibc's does.
struct PendingReallocation {
    PendingAllocation allocation;
    void* former;
    ShadowEntry shadow; // full mode
    SampledBlock live;     // sample mode
    LargeBlockEnd large;
    bool watched;
};
PendingReallocation begin_reallocation(void* block, uint64_t bytes);
void end_reallocation(const PendingReallocation&, void* block, const Frame& caller); // block null: it failed

// Large mappings made by the program itself.
void record_large_map(void* address, uint64_t bytes, trace::LargeMapKind kind, const Frame& caller);

// Unmapping, of any size, and moving. What is begun must be ended: `done` false, the kernel has left the range as it was.
struct PendingUnmap {
    RemovedMappings mappings;
    LargeBlockEnd large;
};
PendingUnmap begin_unmap(void* address, uint64_t bytes);
void end_unmap(const PendingUnmap&, bool done);

// Called by the collector. A mean of 0 means the default.
void start_heap_events(HeapMode mode, uint64_t mean_sample_bytes);
uint64_t live_blocks_refused();

} // namespace plumb::shim
