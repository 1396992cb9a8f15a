// What the heap collector knows of one thread: its exact totals and its sites, both records of the trace file that
// only this thread changes.
#pragma once

#include "platform/os/hidden.h"
#include "record/heap/heap_peak.h"
#include "record/heap/heap_sampling.h"
#include "record/paths/call_path.h"
#include "record/process/trace_writer.h"

namespace plumb::shim {

// A field of a record that the reader may look at any time.
inline void add_to(uint64_t& field, uint64_t amount) {
    __atomic_store_n(&field, field + amount, __ATOMIC_RELAXED);
}

extern HeapPeak heap_peak PLUMB_HIDDEN;

// Lies in pages of its own; zeroed memory plus begin() is a valid object. Belongs to one thread at a time.
class ThreadHeap {
  public:
    // Looked at by every allocation in sample mode, see hooks/alloc.cpp.
    trace::HeapTotals* totals;
    uint64_t sample_at;   // total of allocated bytes at which the next allocation is sampled
    uint64_t admit_below; // a request of (size - 1) below this needs no closer look: not 0, not large, no new maximum

    uint64_t random;
    uint32_t timing_countdown; // full mode: calls until the next one that is timed
    SamplingPace pace;         // sample mode

    // Takes the object over for the calling thread: new totals, no sites.
    void begin(const Guard&, uint64_t seed);
    uint32_t tid() const { return tid_; }

    // Where the thread's stack is. Set at the thread's start: asking for it allocates, which must not happen in the
    // middle of an allocator that called one of the hooks.
    void set_stack(const StackBounds& stack) { stack_ = stack; }
    bool knows_stack() const { return stack_.high != 0; }

    // The site of the calling thread's path at `caller`; HeapSite::path names the path. Valid as long as the thread.
    trace::HeapSite* site_at(const Guard&, const Frame& caller);
    trace::HeapSite* site_of(const Guard& guard, trace::NodeId path) {
        if (__builtin_expect(path < node_capacity_, 1))
            if (trace::HeapSite* site = sites_of_nodes_[path]; __builtin_expect(site != nullptr, 1))
                return site;
        return look_up_site(guard, path);
    }
    trace::NodeId path_at(const Guard&, const Frame& caller);

    // Exact or weighted counts of one event at a site. Weight 1 counts every event.
    void count_allocation(trace::HeapSite* site, uint64_t weight, uint64_t bytes, uint64_t time_ns) {
        note_peak(site);
        add_to(site->samples, 1);
        add_to(site->allocations, weight);
        add_to(site->allocated_bytes, weight * bytes);
        __atomic_store_n(&site->last_ns, time_ns, __ATOMIC_RELAXED);
        add_live(static_cast<int64_t>(weight * bytes));
    }
    void count_free(trace::HeapSite* site, uint64_t weight, uint64_t bytes) {
        note_peak(site);
        add_to(site->frees, weight);
        add_to(site->freed_bytes, weight * bytes);
        add_live(-static_cast<int64_t>(weight * bytes));
    }

    // The block of the last allocation, to see what is freed before the next one; 0: none.
    uint64_t last_block;

    // A clock that is looked at every 64 events.
    uint64_t recent_ns() {
        if (clock_countdown_-- == 0) {
            clock_countdown_ = 63;
            recent_ns_ = now_ns();
        }
        return recent_ns_;
    }

    // Gives the peak what this thread still keeps to itself.
    void flush_live() {
        const int64_t delta = live_delta_;
        live_delta_ = 0;
        heap_peak.add(delta);
    }

  private:
    // Allocations find a site by the key of their path (CallPath::key): a hash table. Frees find it by its node: an
    // array, because nodes are numbered one after the other and one load is what a free can afford.
    struct Entry {
        uint64_t key;
        trace::HeapSite* site; // null: free
    };

    Entry* entry_of(uint64_t key) const; // the free one where it would stand if it is not there; null: no table yet
    void remember(uint64_t key, trace::HeapSite*);
    trace::HeapSite* add_site(const Guard&, trace::NodeId path);
    trace::HeapSite* look_up_site(const Guard&, trace::NodeId path);
    bool grow();
    bool reach_node(trace::NodeId path);

    // Before a site's first change in an epoch: what it had when the epoch began.
    static void note_peak(trace::HeapSite* site) {
        const uint64_t epoch = heap_peak.epoch();
        if (__builtin_expect(site->peak_epoch != epoch, 0)) {
            __atomic_store_n(&site->peak_live_bytes, site->allocated_bytes - site->freed_bytes, __ATOMIC_RELAXED);
            __atomic_store_n(&site->peak_epoch, epoch, __ATOMIC_RELAXED);
        }
    }
    void add_live(int64_t bytes) {
        live_delta_ += bytes;
        const int64_t batch = heap_peak.batch_bytes();
        if (__builtin_expect(live_delta_ > batch || live_delta_ < -batch, 0))
            flush_live();
    }

    CallPathCache* thread_paths(const Guard&);

    StackBounds stack_;
    CallPathCache* paths_;
    Entry* entries_;
    uint32_t capacity_; // a power of two
    uint32_t entry_count_;
    uint32_t node_capacity_;
    trace::HeapSite** sites_of_nodes_; // [NodeId]; null: no site yet
    trace::HeapSite* first_site_; // stands for paths that found no room
    int64_t live_delta_;
    uint64_t recent_ns_;
    uint32_t clock_countdown_;
    uint32_t tid_;
    trace::HeapSite nowhere_;          // counted into where the file has no room
    trace::HeapTotals nowhere_totals_; // likewise
};

// The calling thread's, made at its first event; null: no memory.
ThreadHeap* make_thread_heap(const Guard&);
inline ThreadHeap* thread_heap(const Guard& guard) {
    ThreadHeap* const heap = guard.thread().data<ThreadHeap>(ThreadSlot::heap);
    return __builtin_expect(heap && heap->tid() == guard.thread().tid, 1) ? heap : make_thread_heap(guard);
}

void set_heap_site_mode(trace::HeapSiteMode mode); // what HeapSite records say

// Sites that found no room in the file.
uint64_t heap_sites_refused();

} // namespace plumb::shim
