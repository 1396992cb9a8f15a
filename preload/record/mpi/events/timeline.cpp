#include "record/mpi/events/timeline.h"

namespace plumb::shim::mpi {
namespace {

trace::MpiEvent being_made; // stands for a slab that a thread is adding

} // namespace

void Timeline::set_room(uint64_t bytes) {
    const uint64_t places = bytes / sizeof(trace::MpiEvent);
    const uint64_t small = places / 16 < kSmallSlabPlaces ? places / 16 : kSmallSlabPlaces;
    slab_places_ = places > small * kSlabs ? (places + kSlabs - 1) / kSlabs : small;
    capacity_ = slab_places_ ? places / slab_places_ * slab_places_ : 0;
}

void Timeline::store(const Guard& guard, const trace::MpiEvent& event) {
    trace::MpiEvent* const at = place(guard, next_.fetch_add(1, std::memory_order_relaxed) % capacity_);
    if (!at)
        return;
    __atomic_store_n(&at->site, 0u, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&at->header.tid, guard.thread().tid, __ATOMIC_RELAXED);
    __atomic_store_n(&at->begin_ticks, event.begin_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&at->end_ticks, event.end_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&at->peer, event.peer, __ATOMIC_RELAXED);
    __atomic_store_n(&at->bytes, event.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&at->site, event.site, __ATOMIC_RELEASE);
}

trace::MpiEvent* Timeline::place(const Guard& guard, uint64_t number) {
    std::atomic<trace::MpiEvent*>& slab = slabs_[number / slab_places_];
    trace::MpiEvent* first = slab.load(std::memory_order_acquire);
    if (__builtin_expect(!first, 0)) {
        if (!slab.compare_exchange_strong(first, &being_made, std::memory_order_relaxed))
            return nullptr;
        first = static_cast<trace::MpiEvent*>(append_free_records(guard, trace::RecordType::MpiEvent, sizeof(trace::MpiEvent),
                                                                  static_cast<uint32_t>(slab_places_)));
        slab.store(first ? first : &being_made, std::memory_order_release); // the file is full: it stays so
    }
    return first && first != &being_made ? first + number % slab_places_ : nullptr;
}

} // namespace plumb::shim::mpi
