// The latest calls of all threads, one record each, in a ring: on request only (PLUMB_TIMELINE).
//
// A killed process leaves whole calls: a place is free while its site is 0, which is cleared first and stored last.
#pragma once

#include "record/process/trace_writer.h"

#include <atomic>

namespace plumb::shim::mpi {

// Thread-safe without locks. Zeroed memory plus set_room() is valid.
class Timeline {
  public:
    void set_room(uint64_t bytes); // 0: no timeline is kept
    bool is_kept() const { return capacity_ != 0; }

    // A call whose site is not 0; header and nothing else is filled in here.
    void store(const Guard&, const trace::MpiEvent&);

    // How many were stored so far, those that were overwritten since included.
    uint64_t stored() const { return next_.load(std::memory_order_relaxed); }

  private:
    // Slabs are added to the file as calls need them, so that a short run has a short file.
    static constexpr uint64_t kSlabs = 4096, kSmallSlabPlaces = 1024; // small ones do for up to 160 MiB

    trace::MpiEvent* place(const Guard&, uint64_t number); // null: another thread is adding the slab, or no room

    std::atomic<uint64_t> next_;
    uint64_t capacity_, slab_places_; // events
    std::atomic<trace::MpiEvent*> slabs_[kSlabs];
};

} // namespace plumb::shim::mpi
