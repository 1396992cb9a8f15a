#include "record/heap_thread.h"

#include "platform/memory.h"

#include <string.h>

namespace plumb::shim {

constinit HeapPeak heap_peak;

namespace {

constexpr uint32_t kFirstCapacity = 256;
constexpr uint64_t kSiteBytes = sizeof(trace::HeapSite*) / 2 + 8; // of both tables, for each entry

uint32_t site_mode;
uint64_t refused;

// The thread's remembered call path; made when the first path is asked for.
CallPathCache* thread_paths(const Guard& guard) {
    CallPathCache*& paths = guard.thread().data<CallPathCache>(ThreadSlot::call_path);
    if (!paths)
        paths = static_cast<CallPathCache*>(allocate_pages(sizeof(CallPathCache), true));
    return paths;
}

uint32_t hash_of(trace::NodeId path) { return path * 0x9e3779b1u >> 7; }

} // namespace

void set_heap_site_mode(uint32_t mode) { site_mode = mode; }
uint64_t heap_sites_refused() { return __atomic_load_n(&refused, __ATOMIC_RELAXED); }

void ThreadHeap::begin(const Guard& guard, uint64_t seed) {
    tid_ = guard.thread().tid;
    random = seed ^ uint64_t{tid_} << 32;
    last_block = 0;
    last_path_ = 0;
    last_site_ = nullptr;
    live_delta_ = 0;
    clock_countdown_ = 0;
    site_count_ = 0;
    if (entries_)
        memset(entries_, 0, capacity_ * sizeof(Entry));
    // A new thread has another stack, and its marks must not lead to the former thread's sites.
    if (CallPathCache* paths = guard.thread().data<CallPathCache>(ThreadSlot::call_path))
        paths->begin_thread();
    paths_ = nullptr;
    trace::HeapTotals record{};
    totals = append(guard, trace::RecordType::HeapTotals, record);
    if (!totals)
        totals = &nowhere_totals_;
}

bool ThreadHeap::grow() {
    const uint32_t capacity = capacity_ ? capacity_ * 2 : kFirstCapacity;
    void* pages = allocate_pages(capacity * kSiteBytes, true);
    if (!pages)
        return false;
    Entry* entries = static_cast<Entry*>(pages);
    auto** sites = reinterpret_cast<trace::HeapSite**>(entries + capacity);
    for (uint32_t i = 0; i < capacity_; ++i) {
        if (!entries_[i].number)
            continue;
        uint32_t slot = hash_of(entries_[i].path) & (capacity - 1);
        while (entries[slot].number)
            slot = (slot + 1) & (capacity - 1);
        entries[slot] = entries_[i];
    }
    if (capacity_) {
        memcpy(sites, sites_, site_count_ * sizeof *sites);
        release_pages(entries_, capacity_ * kSiteBytes);
    }
    entries_ = entries;
    sites_ = sites;
    capacity_ = capacity;
    return true;
}

uint32_t ThreadHeap::add_site(const Guard& guard, trace::NodeId path) {
    trace::HeapSite record{};
    record.path = path;
    record.mode = site_mode;
    record.first_ns = record.last_ns = recent_ns();
    record.peak_epoch = heap_peak.epoch();
    trace::HeapSite* site = append(guard, trace::RecordType::HeapSite, record);
    if (!site) {
        __atomic_add_fetch(&refused, 1, __ATOMIC_RELAXED);
        site = site_count_ ? sites_[0] : &nowhere_; // the first site stands for paths that found no room
    }
    sites_[site_count_++] = site;
    return site_count_;
}

uint32_t ThreadHeap::number_of(const Guard& guard, trace::NodeId path) {
    if ((site_count_ + 2) * 2 > capacity_ && !grow())
        return 0;
    if (site_count_ == 0 && path != 0)
        number_of(guard, 0);
    for (uint32_t slot = hash_of(path) & (capacity_ - 1);; slot = (slot + 1) & (capacity_ - 1)) {
        Entry& entry = entries_[slot];
        if (!entry.number) {
            entry.path = path;
            entry.number = add_site(guard, path);
        }
        if (entry.path == path)
            return entry.number;
    }
}

trace::HeapSite* ThreadHeap::site_of(const Guard& guard, trace::NodeId path) {
    if (path == last_path_ && last_site_)
        return last_site_;
    const uint32_t number = number_of(guard, path);
    last_path_ = path;
    last_site_ = number ? sites_[number - 1] : &nowhere_;
    return last_site_;
}

trace::NodeId ThreadHeap::path_of(const Guard& guard, const Frame& caller) {
    if (!paths_ && !(paths_ = thread_paths(guard)))
        return 0;
    return paths_->find(guard, caller).node;
}

ThreadHeap::Place ThreadHeap::place_of(const Guard& guard, const Frame& caller) {
    if (__builtin_expect(!paths_, 0) && !(paths_ = thread_paths(guard)))
        return {0, site_of(guard, 0)};
    const CallPath path = paths_->find(guard, caller);
    if (*path.mark == 0 && (*path.mark = number_of(guard, path.node)) == 0)
        return {path.node, &nowhere_};
    return {path.node, sites_[*path.mark - 1]};
}

namespace {

// Before a site's first change in an epoch: what it had when the epoch began.
void note_peak(trace::HeapSite* site) {
    const uint64_t epoch = heap_peak.epoch();
    if (__builtin_expect(site->peak_epoch != epoch, 0)) {
        __atomic_store_n(&site->peak_live_bytes, site->allocated_bytes - site->freed_bytes, __ATOMIC_RELAXED);
        __atomic_store_n(&site->peak_epoch, epoch, __ATOMIC_RELAXED);
    }
}

} // namespace

void ThreadHeap::count_allocation(trace::HeapSite* site, uint64_t weight, uint64_t bytes, uint64_t time_ns) {
    note_peak(site);
    add_to(site->samples, 1);
    add_to(site->allocations, weight);
    add_to(site->allocated_bytes, weight * bytes);
    __atomic_store_n(&site->last_ns, time_ns, __ATOMIC_RELAXED);
    add_live(static_cast<int64_t>(weight * bytes));
}

void ThreadHeap::count_free(trace::HeapSite* site, uint64_t weight, uint64_t bytes) {
    note_peak(site);
    add_to(site->frees, weight);
    add_to(site->freed_bytes, weight * bytes);
    add_live(-static_cast<int64_t>(weight * bytes));
}

ThreadHeap* thread_heap(const Guard& guard) {
    ThreadHeap*& heap = guard.thread().data<ThreadHeap>(ThreadSlot::heap);
    if (__builtin_expect(heap != nullptr && heap->tid() == guard.thread().tid, 1))
        return heap;
    if (!heap) {
        heap = static_cast<ThreadHeap*>(allocate_pages(sizeof(ThreadHeap), true));
        if (!heap)
            return nullptr;
    }
    heap->begin(guard, now_ns());
    return heap;
}

} // namespace plumb::shim
