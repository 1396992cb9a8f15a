#include "record/heap/heap_thread.h"

#include "platform/os/memory.h"

#include <string.h>

namespace plumb::shim {

constinit HeapPeak heap_peak;

namespace {

constexpr uint32_t kFirstCapacity = 256;
constexpr uint32_t kFirstNodes = 1024;
constexpr uint32_t kMostNodes = 1u << 25; // more than the tree of paths has

trace::HeapSiteMode site_mode;
uint64_t sites_refused;

uint32_t hash_of(uint64_t key) { return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> 32); }

} // namespace

void set_heap_site_mode(trace::HeapSiteMode mode) { site_mode = mode; }
uint64_t heap_sites_refused() { return __atomic_load_n(&sites_refused, __ATOMIC_RELAXED); }

// A jump out of a handler may leave any of the changes below in the middle (Collector::repair_thread): what is stored in
// each moment must be fit for use. The compiler keeps the order across this.
static inline void stored_so_far() { std::atomic_signal_fence(std::memory_order_seq_cst); }

void ThreadHeap::begin(const Guard& guard, uint64_t seed) {
    tid_ = 0; // not yet this thread's
    stored_so_far();
    random = seed ^ uint64_t{guard.thread().tid} << 32;
    last_block = 0;
    live_delta_ = 0;
    clock_countdown_ = 0;
    entry_count_ = 0;
    first_site_ = nullptr;
    if (entries_)
        memset(entries_, 0, capacity_ * sizeof(Entry));
    if (sites_of_nodes_)
        memset(sites_of_nodes_, 0, node_capacity_ * sizeof *sites_of_nodes_);
    stack_ = {};
    paths_ = nullptr;
    trace::HeapTotals record{};
    totals = append(guard, trace::RecordType::HeapTotals, record);
    if (!totals)
        totals = &nowhere_totals_;
    stored_so_far();
    tid_ = guard.thread().tid;
}

bool ThreadHeap::grow() {
    const uint32_t capacity = capacity_ ? capacity_ * 2 : kFirstCapacity;
    Entry* entries = static_cast<Entry*>(allocate_pages(capacity * sizeof(Entry), true));
    if (!entries)
        return false;
    for (uint32_t i = 0; i < capacity_; ++i) {
        if (!entries_[i].site)
            continue;
        uint32_t slot = hash_of(entries_[i].key) & (capacity - 1);
        while (entries[slot].site)
            slot = (slot + 1) & (capacity - 1);
        entries[slot] = entries_[i];
    }
    Entry* const former = entries_;
    const uint32_t former_capacity = capacity_;
    entries_ = entries;
    stored_so_far();
    capacity_ = capacity;
    stored_so_far();
    if (former_capacity)
        release_pages(former, former_capacity * sizeof(Entry));
    return true;
}

ThreadHeap::Entry* ThreadHeap::entry_of(uint64_t key) const {
    if (capacity_ == 0)
        return nullptr;
    uint32_t slot = hash_of(key) & (capacity_ - 1);
    while (entries_[slot].site && entries_[slot].key != key)
        slot = (slot + 1) & (capacity_ - 1);
    return &entries_[slot];
}

// Where there is no memory for a larger table the path is looked up by its node each time it comes anew.
void ThreadHeap::remember(uint64_t key, trace::HeapSite* site) {
    if (entry_count_ * 4 >= capacity_ * 3 && !grow())
        return;
    ++entry_count_; // first: a table that is taken for emptier than it is would be searched without end when it is full
    stored_so_far();
    Entry* const entry = entry_of(key);
    entry->key = key;
    stored_so_far();
    entry->site = site;
}

trace::HeapSite* ThreadHeap::add_site(const Guard& guard, trace::NodeId path) {
    trace::HeapSite record{};
    record.path = path;
    record.mode = static_cast<uint32_t>(site_mode);
    record.first_ns = record.last_ns = recent_ns();
    record.peak_epoch = heap_peak.epoch();
    if (trace::HeapSite* site = append(guard, trace::RecordType::HeapSite, record))
        return site;
    __atomic_add_fetch(&sites_refused, 1, __ATOMIC_RELAXED);
    return first_site_ ? first_site_ : &nowhere_;
}

// Makes the array long enough for this node.
bool ThreadHeap::reach_node(trace::NodeId path) {
    if (path < node_capacity_)
        return true;
    if (path >= kMostNodes)
        return false;
    uint32_t capacity = node_capacity_ ? node_capacity_ : kFirstNodes;
    while (capacity <= path)
        capacity *= 2;
    auto** const sites = static_cast<trace::HeapSite**>(allocate_pages(capacity * sizeof *sites_of_nodes_, true));
    if (!sites)
        return false;
    trace::HeapSite** const former = sites_of_nodes_;
    const uint32_t former_capacity = node_capacity_;
    if (former)
        memcpy(sites, former, former_capacity * sizeof *former);
    sites_of_nodes_ = sites;
    stored_so_far();
    node_capacity_ = capacity;
    stored_so_far();
    if (former)
        release_pages(former, former_capacity * sizeof *former);
    return true;
}

trace::HeapSite* ThreadHeap::look_up_site(const Guard& guard, trace::NodeId path) {
    const AlignmentFlagTakenHere taken;
    if (!first_site_)
        first_site_ = add_site(guard, 0);
    if (path == 0 || !reach_node(path))
        return first_site_;
    if (!sites_of_nodes_[path])
        sites_of_nodes_[path] = add_site(guard, path);
    return sites_of_nodes_[path];
}

trace::HeapSite* ThreadHeap::site_at(const Guard& guard, const Frame& caller) {
    if (__builtin_expect(!paths_, 0) && !(paths_ = thread_paths(guard)))
        return site_of(guard, 0);
    const CallPath path = paths_->find(guard, caller);
    if (__builtin_expect(*path.mark != nullptr, 1))
        return static_cast<trace::HeapSite*>(*path.mark);
    const Entry* const entry = entry_of(path.key);
    trace::HeapSite* site = entry ? entry->site : nullptr;
    if (!site) {
        const AlignmentFlagTakenHere taken;
        site = site_of(guard, paths_->node(guard));
        remember(path.key, site);
    }
    *path.mark = site;
    return site;
}

// The thread's remembered call path; made when the first path is asked for. What a former thread left there leads to
// that thread's sites.
CallPathCache* ThreadHeap::thread_paths(const Guard& guard) {
    CallPathCache*& paths = guard.thread().data<CallPathCache>(ThreadSlot::call_path);
    if (!paths)
        paths = static_cast<CallPathCache*>(allocate_pages(sizeof(CallPathCache), true));
    if (paths)
        paths->begin_thread(stack_);
    return paths;
}

trace::NodeId ThreadHeap::path_at(const Guard& guard, const Frame& caller) {
    if (!paths_ && !(paths_ = thread_paths(guard)))
        return 0;
    paths_->find(guard, caller);
    return paths_->node(guard);
}

ThreadHeap* make_thread_heap(const Guard& guard) {
    const AlignmentFlagTakenHere taken;
    ThreadHeap*& heap = guard.thread().data<ThreadHeap>(ThreadSlot::heap);
    if (!heap) {
        heap = static_cast<ThreadHeap*>(allocate_pages(sizeof(ThreadHeap), true));
        if (!heap)
            return nullptr;
    }
    heap->begin(guard, now_ns());
    heap->set_stack(guard.thread().stack);
    return heap;
}

} // namespace plumb::shim
