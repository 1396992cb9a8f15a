// A fixed number of places for events of one kind, thinned as they fill up.
//
// When all places are taken, the stride doubles, the events whose sequence is not a multiple of it are given up, and
// their places are used again. So every rank ends with the multiples of some power of two, however many events it had
// itself, and what all of them have in common are the multiples of the largest. A killed process leaves whole events:
// a record is free while its site is 0, which is stored last and cleared first.
#pragma once

#include "platform/os/memory.h"
#include "record/mpi/tables/counters.h"
#include "record/process/trace_writer.h"

namespace plumb::shim::mpi {

// Under the lock of the tables. Zeroed memory plus set_limit() is valid. Event: trace::MpiCollective, trace::MpiMessage.
template <class Event, trace::RecordType kType> class EventPlaces {
  public:
    void set_limit(uint32_t places) {
        limit_ = places < kSlabs * kSlabPlaces ? places : kSlabs * kSlabPlaces;
        stride_ = 1;
    }

    uint64_t stride() const { return stride_; }
    bool keeps(uint64_t sequence) const { return (sequence & (stride_ - 1)) == 0; }

    // Stores an event that keeps() its sequence; its site is not 0.
    void store(const Guard& guard, Event& event) {
        if (free_count_ == 0 && used_ == limit_)
            thin();
        if (!keeps(event.sequence))
            return;
        Event* const place = free_place(guard);
        if (!place)
            return;
        const uint32_t site = event.site;
        event.header = {place->header.type, place->header.size, guard.thread().tid};
        event.site = 0;
        *place = event;
        __atomic_store_n(&place->site, site, __ATOMIC_RELEASE);
    }

  private:
    static constexpr uint32_t kSlabPlaces = 512; // 36 and 40 KiB
    static constexpr uint32_t kSlabs = 64;
    static constexpr uint64_t kLargestStride = uint64_t{1} << 31;

    Event* free_place(const Guard& guard) {
        if (free_count_ == 0 && used_ < limit_ && used_ % kSlabPlaces == 0 && !add_slab(guard))
            limit_ = used_; // the file is full: from now on these are all
        if (free_count_ > 0)
            return &at(free_[--free_count_]);
        return used_ < limit_ ? &at(used_++) : nullptr;
    }

    bool add_slab(const Guard& guard) {
        if (!free_)
            free_ = static_cast<uint16_t*>(allocate_pages(kSlabs * kSlabPlaces * sizeof(uint16_t), true));
        if (!free_)
            return false;
        void* const slab = append_free_records(guard, kType, sizeof(Event), kSlabPlaces);
        slabs_[used_ / kSlabPlaces] = static_cast<Event*>(slab);
        return slab != nullptr;
    }

    void thin() {
        while (free_count_ == 0 && stride_ < kLargestStride && used_ > 0) {
            stride_ *= 2;
            for (uint32_t i = 0; i < used_; ++i)
                if (Event& event = at(i); !keeps(event.sequence)) {
                    __atomic_store_n(&event.site, 0u, __ATOMIC_RELEASE);
                    free_[free_count_++] = static_cast<uint16_t>(i);
                }
        }
    }

    Event& at(uint32_t place) { return slabs_[place / kSlabPlaces][place % kSlabPlaces]; }

    Event* slabs_[kSlabs];
    uint16_t* free_; // places that were given up
    uint32_t used_, free_count_, limit_;
    uint64_t stride_;
    static_assert(kSlabs * kSlabPlaces <= UINT16_MAX + 1);
};

using CollectivePlaces = EventPlaces<trace::MpiCollective, trace::RecordType::MpiCollective>;
using MessagePlaces = EventPlaces<trace::MpiMessage, trace::RecordType::MpiMessage>;

} // namespace plumb::shim::mpi
