#include "record/heap/heap_events.h"

#include "record/heap/heap_sampling.h"

#include <errno.h>

namespace plumb::shim {

constinit HeapMode heap_mode = HeapMode::off;

namespace {

constexpr uint64_t kDefaultMeanBytes = 512 * 1024;
constexpr uint32_t kTimedEvery = 1024;      // full mode: calls to one timed call, on average

uint64_t first_mean_bytes = kDefaultMeanBytes;
bool mean_is_fixed = false; // asked for
uint32_t live_refused;

class KeepErrno {
  public:
    KeepErrno() : value_(errno) {}
    ~KeepErrno() { errno = value_; }
    KeepErrno(const KeepErrno&) = delete;
    KeepErrno& operator=(const KeepErrno&) = delete;

  private:
    int value_;
};

// The calling thread's heap; the first event of a thread arms its sampling.
ThreadHeap* heap_of(const Guard& guard) {
    ThreadHeap* const heap = thread_heap(guard);
    if (!heap || heap_mode == HeapMode::full)
        return heap;
    ThreadHeap*& counting = guard.thread().data<ThreadHeap>(ThreadSlot::heap_counting);
    if (__builtin_expect(counting != heap, 0)) {
        heap->pace.begin(first_mean_bytes, mean_is_fixed);
        heap->sample_at = sampling_distance(&heap->random, first_mean_bytes);
        heap->admit_below = 0;
        counting = heap;
    }
    return heap;
}

// A block of 64 KiB and more ends.
__attribute__((noinline)) void end_large(uint64_t address, uint64_t bytes) {
    const AlignmentFlagTakenHere taken;
    unindex_large_block(address, bytes);
    if (bytes >= kLargeBytes)
        large_block_ends(address);
}

// The calling thread's heap without a guard, to look at only.
ThreadHeap* glance() {
    ThreadState* const thread = this_thread;
    return thread && !thread->is_inside() ? thread->data<ThreadHeap>(ThreadSlot::heap) : nullptr;
}

void note_request(ThreadHeap* heap, uint64_t bytes) {
    trace::HeapTotals* const totals = heap->totals;
    add_to(totals->allocated_bytes, bytes);
    if (bytes == 0)
        add_to(totals->zero_sized, 1);
    if (bytes > totals->max_request_bytes) {
        __atomic_store_n(&totals->max_request_bytes, bytes, __ATOMIC_RELAXED);
        heap->admit_below = bytes < kPlainBelow ? bytes : kPlainBelow;
    }
}

void note_full(const Guard& guard, ThreadHeap* heap, const PendingAllocation& pending, void* block,
               const Frame& caller) {
    const uint64_t bytes = pending.bytes;
    const uint32_t magnitude = 63 - static_cast<uint32_t>(__builtin_clzll(bytes | 1));
    add_to(heap->totals->size_histogram[magnitude < 31 ? magnitude : 31], 1);
    trace::HeapSite* const site = heap->site_at(guard, caller);
    heap->count_allocation(site, 1, bytes, heap->recent_ns());
    if (!shadow_store(reinterpret_cast<uint64_t>(block), site->path, bytes)) {
        heap->count_free(site, 1, bytes); // or it would seem to live for ever
        __atomic_add_fetch(&live_refused, 1, __ATOMIC_RELAXED);
    }
    heap->last_block = reinterpret_cast<uint64_t>(block);
    if (__builtin_expect(pending.timer.started(), 0))
        add_to(site->lock_wait_ns, pending.timer.blocked_ns());
    if (__builtin_expect(bytes < kIndexedBlockBytes, 1))
        return;
    const AlignmentFlagTakenHere taken;
    index_large_block(reinterpret_cast<uint64_t>(block), bytes, site->path);
    if (bytes >= kLargeBytes)
        large_block_begins(guard, reinterpret_cast<uint64_t>(block), bytes, trace::LargeMapKind::allocator, site->path);
}

void note_sampled(const Guard& guard, ThreadHeap* heap, const PendingAllocation& pending, void* block,
                  const Frame& caller) {
    const AlignmentFlagTakenHere taken;
    const uint64_t bytes = pending.bytes;
    const uint64_t total = heap->totals->allocated_bytes;
    const bool sampled = total >= heap->sample_at;
    if (!sampled && bytes < kIndexedBlockBytes)
        return;
    const uint64_t address = reinterpret_cast<uint64_t>(block);
    SampledBlock live{0, 0, bytes};
    trace::HeapSite* site = nullptr;
    if (sampled) {
        const uint64_t blocked_ns = pending.timer.started() ? pending.timer.blocked_ns() : 0;
        site = heap->site_at(guard, caller);
        const uint64_t time_ns = now_ns();
        live.path = site->path;
        live.weight = sampling_weight(&heap->random, bytes, heap->pace.mean_bytes());
        heap->count_allocation(site, live.weight, bytes, time_ns);
        heap->pace.sampled(time_ns);
        heap->sample_at = total + sampling_distance(&heap->random, heap->pace.mean_bytes());
        add_to(site->lock_wait_ns, blocked_ns);
    } else {
        live.path = heap->path_at(guard, caller);
    }
    if (insert_sampled_block(address, live)) {
        index_large_block(address, bytes, live.path);
    } else if (sampled || bytes >= kLargeBytes) {
        if (sampled)
            heap->count_free(site, live.weight, bytes);
        __atomic_add_fetch(&live_refused, 1, __ATOMIC_RELAXED);
    }
    if (bytes >= kLargeBytes)
        large_block_begins(guard, reinterpret_cast<uint64_t>(block), bytes, trace::LargeMapKind::allocator, live.path);
}

void note_block(const Guard& guard, ThreadHeap* heap, const PendingAllocation& pending, void* block,
                const Frame& caller) {
    note_request(heap, pending.bytes);
    if (heap_mode == HeapMode::full)
        note_full(guard, heap, pending, block, caller);
    else
        note_sampled(guard, heap, pending, block, caller);
}

} // namespace

void uncount_plain_allocation(uint64_t bytes) {
    ThreadHeap* const heap = counting_heap();
    if (!heap)
        return;
    add_to(heap->totals->allocations, ~uint64_t{0});
    add_to(heap->totals->allocated_bytes, ~bytes + 1);
    add_to(heap->totals->failed, 1);
}

void uncount_plain_reallocation(uint64_t bytes) {
    ThreadHeap* const heap = counting_heap();
    if (!heap)
        return;
    add_to(heap->totals->reallocations, ~uint64_t{0});
    add_to(heap->totals->allocated_bytes, ~bytes + 1);
    add_to(heap->totals->failed, 1);
}

PendingAllocation begin_allocation(uint64_t bytes) {
    PendingAllocation pending{bytes, {}};
    ThreadHeap* const heap = glance();
    if (!heap)
        return pending;
    if (heap_mode == HeapMode::full) {
        if (__builtin_expect(heap->timing_countdown-- != 0, 1))
            return pending;
        heap->timing_countdown = static_cast<uint32_t>(next_random(&heap->random) % (2 * kTimedEvery - 1));
    } else if (heap->totals->allocated_bytes + bytes < heap->sample_at) {
        return pending;
    }
    pending.timer.start();
    return pending;
}

void end_allocation(const PendingAllocation& pending, void* block, const Frame& caller) {
    const KeepErrno keep;
    const Guard guard(Guard::Flag::stays);
    ThreadHeap* heap;
    if (!guard || !(heap = heap_of(guard)))
        return;
    if (!block) {
        add_to(heap->totals->failed, 1);
        return;
    }
    add_to(heap->totals->allocations, 1);
    note_block(guard, heap, pending, block, caller);
}

PendingFree begin_free(void* block) {
    PendingFree pending{nullptr, {}};
    if (!block)
        return pending;
    const KeepErrno keep;
    const Guard guard(Guard::Flag::stays);
    ThreadHeap* heap;
    if (!guard || !(heap = heap_of(guard)))
        return pending;
    add_to(heap->totals->frees, 1);
    const uint64_t address = reinterpret_cast<uint64_t>(block);
    if (heap_mode == HeapMode::full) {
        const ShadowEntry entry = shadow_take(address);
        if (!entry.known)
            return pending;
        if (__builtin_expect(entry.bytes >= kIndexedBlockBytes, 0))
            end_large(address, entry.bytes);
        trace::HeapSite* const site = heap->site_of(guard, entry.path);
        heap->count_free(site, 1, entry.bytes);
        if (address == heap->last_block) {
            heap->last_block = 0;
            add_to(site->temporary, 1);
        }
        if (__builtin_expect(heap->timing_countdown-- == 0, 0)) {
            heap->timing_countdown = static_cast<uint32_t>(next_random(&heap->random) % (2 * kTimedEvery - 1));
            pending.site = site;
            pending.timer.start();
        }
        return pending;
    }
    const AlignmentFlagTakenHere taken;
    SampledBlock live;
    if (!take_sampled_block(address, &live))
        return pending;
    if (live.bytes >= kIndexedBlockBytes)
        end_large(address, live.bytes);
    if (live.weight) {
        pending.site = heap->site_of(guard, live.path);
        heap->count_free(pending.site, live.weight, live.bytes);
        pending.timer.start();
    }
    return pending;
}

void end_free(const PendingFree& pending) {
    if (__builtin_expect(!pending.site, 1))
        return;
    const KeepErrno keep;
    const Guard guard;
    if (guard)
        add_to(pending.site->lock_wait_ns, pending.timer.blocked_ns());
}

PendingReallocation begin_reallocation(void* block, uint64_t bytes) {
    const AlignmentFlagTakenHere taken; // much is cleared, by words that may not be aligned
    PendingReallocation pending{begin_allocation(bytes), block, {}, {}, {}, false};
    const KeepErrno keep;
    const Guard guard;
    if (!guard)
        return pending;
    const uint64_t address = reinterpret_cast<uint64_t>(block);
    if (heap_mode == HeapMode::full)
        pending.shadow = shadow_take(address);
    else if (may_be_watched(block))
        pending.watched = take_sampled_block(address, &pending.live);
    const uint64_t former_bytes = pending.shadow.known ? pending.shadow.bytes : pending.watched ? pending.live.bytes : 0;
    unindex_large_block(address, former_bytes);
    if (former_bytes >= kLargeBytes)
        pending.large = large_block_may_end(address);
    return pending;
}

void end_reallocation(const PendingReallocation& pending, void* block, const Frame& caller) {
    const KeepErrno keep;
    const bool freed = !block && pending.allocation.bytes == 0;
    if (block || freed)
        large_block_ended(pending.large);
    else
        large_block_goes_on(pending.large);
    const Guard guard;
    ThreadHeap* heap;
    if (!guard || !(heap = heap_of(guard)))
        return;
    const uint64_t former = reinterpret_cast<uint64_t>(pending.former);
    if (!block && !freed) {
        add_to(heap->totals->failed, 1);
        shadow_restore(former, pending.shadow);
        if (pending.watched)
            insert_sampled_block(former, pending.live);
        if (pending.shadow.known)
            index_large_block(former, pending.shadow.bytes, pending.shadow.path);
        else if (pending.watched)
            index_large_block(former, pending.live.bytes, pending.live.path);
        return;
    }
    add_to(freed ? heap->totals->frees : heap->totals->reallocations, 1);
    if (pending.shadow.known)
        heap->count_free(heap->site_of(guard, pending.shadow.path), 1, pending.shadow.bytes);
    else if (pending.watched && pending.live.weight)
        heap->count_free(heap->site_of(guard, pending.live.path), pending.live.weight, pending.live.bytes);
    if (block)
        note_block(guard, heap, pending.allocation, block, caller);
}

// These two may be called by an allocator that holds its locks (jemalloc maps memory through the hook): nothing here
// may allocate, so neither is a thread adopted nor a stack looked for.
void record_large_map(void* address, uint64_t bytes, trace::LargeMapKind kind, const Frame& caller) {
    if (!this_thread)
        return;
    const KeepErrno keep;
    const Guard guard;
    ThreadHeap* heap;
    if (!guard || !(heap = heap_of(guard)))
        return;
    const trace::NodeId path = heap->knows_stack() ? heap->path_at(guard, caller) : 0;
    if (kind != trace::LargeMapKind::program_break)
        mapping_insert(reinterpret_cast<uint64_t>(address), bytes, path);
    large_block_begins(guard, reinterpret_cast<uint64_t>(address), bytes, kind, path);
}

PendingUnmap begin_unmap(void* address, uint64_t bytes) {
    PendingUnmap pending;
    if (!this_thread)
        return pending;
    const KeepErrno keep;
    const Guard guard;
    if (!guard)
        return pending;
    mapping_remove(reinterpret_cast<uint64_t>(address), bytes, &pending.mappings);
    if (bytes >= kLargeBytes)
        pending.large = large_block_may_end(reinterpret_cast<uint64_t>(address));
    return pending;
}

void end_unmap(const PendingUnmap& pending, bool done) {
    if (done)
        return large_block_ended(pending.large);
    large_block_goes_on(pending.large);
    if (pending.mappings.count != 0)
        mapping_restore(pending.mappings);
}

void start_heap_events(HeapMode mode, uint64_t mean_sample_bytes) {
    mean_is_fixed = mean_sample_bytes != 0;
    first_mean_bytes = mean_is_fixed ? mean_sample_bytes : kDefaultMeanBytes;
    live_refused = 0;
    start_large_blocks();
    heap_peak.reset();
    set_heap_site_mode(mode == HeapMode::full ? trace::HeapSiteMode::every_event : trace::HeapSiteMode::sampled);
    forget_sampled_blocks();
    watch_always(nullptr); // free(NULL) is not a free
    heap_mode = mode; // other threads, if there are any, may notice a little later
}

uint64_t live_blocks_refused() { return __atomic_load_n(&live_refused, __ATOMIC_RELAXED); }

} // namespace plumb::shim
