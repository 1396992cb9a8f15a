// A fixed table from keys of a thread's own to its records in the trace: one probe for what was met lately.
#pragma once

#include "record/mpi/tables/mix.h"

#include <stdint.h>

namespace plumb::shim::openmp {

// Belongs to one thread; zeroed memory is a valid empty table. Entry needs a constructor-free `uint64_t key`, 0: free.
template <class Entry, uint32_t capacity> class Places {
    static_assert((capacity & (capacity - 1)) == 0);

  public:
    // The entry of `key` (not 0), or a free one to be filled in; null: the table is as full as it may become.
    Entry* find(uint64_t key) {
        for (uint32_t at = static_cast<uint32_t>(key) & (capacity - 1);; at = (at + 1) & (capacity - 1)) {
            Entry& entry = entries_[at];
            if (entry.key == key)
                return &entry;
            if (entry.key == 0)
                return used_ < capacity * 3 / 4 ? &entry : nullptr;
        }
    }
    void note_filled() { ++used_; }

  private:
    uint32_t used_;
    Entry entries_[capacity];
};

inline uint64_t key_of(uint64_t a, uint64_t b) {
    const uint64_t key = mpi::mix(a, b);
    return key ? key : 1;
}
inline uint64_t key_of(uint64_t a, uint64_t b, uint64_t c) { return key_of(mpi::mix(a, b), c); }

} // namespace plumb::shim::openmp
