#include "record/mpi/tables/key_table.h"

#include "platform/os/memory.h"

#include <atomic>

namespace plumb::shim::mpi {
namespace {
constexpr uint32_t kFirstCapacity = 256; // a page
}

bool KeyTable::grow() {
    const uint32_t former = capacity_, capacity = former ? former * 2 : kFirstCapacity;
    Entry* const old = entries_;
    Entry* const entries = static_cast<Entry*>(allocate_pages(capacity * sizeof(Entry), true));
    if (!entries)
        return false;
    entries_ = entries; // the larger one first: see Collector::repair_thread
    std::atomic_signal_fence(std::memory_order_seq_cst);
    capacity_ = capacity;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (uint32_t i = 0; i < former; ++i) {
        if (old[i].value_plus_1 == 0)
            continue;
        uint32_t at = home(old[i].key);
        while (entries[at].value_plus_1 != 0)
            at = (at + 1) & (capacity - 1);
        entries[at] = old[i];
    }
    if (old)
        release_pages(old, former * sizeof(Entry));
    return true;
}

bool KeyTable::put(uint64_t key, uint32_t value, uint32_t limit) {
    if (capacity_ != 0)
        for (uint32_t at = home(key); entries_[at].value_plus_1 != 0; at = (at + 1) & (capacity_ - 1))
            if (entries_[at].key == key) {
                entries_[at].value_plus_1 = value + 1;
                return true;
            }
    if (count_ >= limit || (count_ * 2 >= capacity_ && !grow()))
        return false;
    uint32_t at = home(key);
    while (entries_[at].value_plus_1 != 0)
        at = (at + 1) & (capacity_ - 1);
    ++count_; // first: a table that is taken for emptier than it is would be searched without end when it is full
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entries_[at].key = key;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entries_[at].value_plus_1 = value + 1;
    return true;
}

void KeyTable::clear() {
    Entry* const former = entries_;
    const uint32_t capacity = capacity_;
    capacity_ = count_ = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entries_ = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (former)
        release_pages(former, capacity * sizeof(Entry));
}

bool KeyTable::erase(uint64_t key) {
    if (capacity_ == 0)
        return false;
    const uint32_t mask = capacity_ - 1;
    uint32_t hole = home(key);
    while (entries_[hole].key != key || entries_[hole].value_plus_1 == 0) {
        if (entries_[hole].value_plus_1 == 0)
            return false;
        hole = (hole + 1) & mask;
    }
    // Whoever stands behind the hole and came there by way of it moves into it.
    for (uint32_t at = (hole + 1) & mask; entries_[at].value_plus_1 != 0; at = (at + 1) & mask)
        if (((at - home(entries_[at].key)) & mask) >= ((at - hole) & mask)) {
            entries_[hole] = entries_[at];
            hole = at;
        }
    entries_[hole] = {};
    --count_;
    return true;
}

} // namespace plumb::shim::mpi
