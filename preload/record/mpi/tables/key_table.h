// A map from 64-bit keys to 32-bit numbers that grows up to a limit: open addressing in pages of the shim's own.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim::mpi {

// Zeroed memory is a valid empty table. Neither thread-safe nor to be entered again by a signal handler: its owner has
// a lock and a guard. Pages are wiped in forked children, so the table itself must lie in such pages, too.
class KeyTable {
  public:
    static constexpr uint32_t kNone = UINT32_MAX;

    uint32_t find(uint64_t key) const {
        if (capacity_ == 0)
            return kNone;
        for (uint32_t at = home(key);; at = (at + 1) & (capacity_ - 1)) {
            const Entry& entry = entries_[at];
            if (entry.value_plus_1 == 0)
                return kNone;
            if (entry.key == key)
                return entry.value_plus_1 - 1;
        }
    }

    // Adds or changes. False: it has `limit` keys already, or there is no memory.
    bool put(uint64_t key, uint32_t value, uint32_t limit);

    // False: it was not there.
    bool erase(uint64_t key);

    void clear();
    uint32_t count() const { return count_; }

  private:
    struct Entry {
        uint64_t key;
        uint32_t value_plus_1; // 0: free
        uint32_t padding;
    };
    uint32_t home(uint64_t key) const {
        key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
        return static_cast<uint32_t>(key >> 32) & (capacity_ - 1);
    }
    bool grow();

    Entry* entries_;
    uint32_t capacity_; // a power of two, 0: nothing yet
    uint32_t count_;
};

} // namespace plumb::shim::mpi
