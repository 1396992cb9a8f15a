#include "record/pin/pin_table.h"

#include <atomic>

namespace plumb::shim {

bool PinTable::hand_over(uint32_t entry, uint64_t from, uint64_t to) const {
    std::atomic_ref<uint64_t> owner(at(entry).owner);
    return owner.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

// Asking whether an owner is alive is a system call. It is asked for the positions themselves; where threads have
// begun to share CPUs, thousands may be alive, and the dead among them are looked for only when the table is full.
bool PinTable::take_entry(uint32_t entry, uint64_t owner, Look look) const {
    const uint64_t holder = std::atomic_ref<uint64_t>(at(entry).owner).load(std::memory_order_acquire);
    const bool free = holder == 0 || (look == Look::also_reserved && is_reservation(holder)) ||
                      (look != Look::free_only && !alive_(holder));
    if (!free || !hand_over(entry, holder, owner))
        return false;
    std::atomic_ref<uint32_t> used(group_->used);
    uint32_t seen = used.load(std::memory_order_relaxed);
    while (seen <= entry && !used.compare_exchange_weak(seen, entry + 1, std::memory_order_relaxed)) {}
    return true;
}

uint32_t PinTable::find_process(uint32_t pid) const {
    uint32_t reserved = kNoEntry;
    const uint32_t used = std::atomic_ref<uint32_t>(group_->used).load(std::memory_order_relaxed);
    for (uint32_t entry = 0; entry < used && entry < pin::kGroupEntries; ++entry) {
        const uint64_t holder = std::atomic_ref<uint64_t>(at(entry).owner).load(std::memory_order_acquire);
        if (holder == pin::owner(pid, pid))
            return entry;
        if (holder == pin::owner(pid, 0) && reserved == kNoEntry)
            reserved = entry;
    }
    return reserved;
}

uint32_t PinTable::take(uint64_t owner) const {
    for (uint32_t entry = 0; entry < pin::kGroupEntries; ++entry)
        if (take_entry(entry, owner, wrapped(entry) ? Look::free_only : Look::also_dead))
            return entry;
    for (uint32_t entry = positions_; entry < pin::kGroupEntries; ++entry)
        if (take_entry(entry, owner, Look::also_dead))
            return entry;
    return kNoEntry;
}

uint32_t PinTable::take_block(uint64_t owner, uint32_t stride) const {
    for (uint32_t entry = 0; entry < pin::kGroupEntries; entry += stride)
        if (take_entry(entry, owner, Look::also_dead))
            return entry;
    return kNoEntry;
}

uint32_t PinTable::take_in_block(uint64_t owner, uint32_t first, uint32_t stride) const {
    for (const Look later_rounds : {Look::free_only, Look::also_reserved})
        for (uint64_t round = first; round < pin::kGroupEntries; round += positions_)
            for (uint64_t entry = round; entry < round + stride && entry < pin::kGroupEntries; ++entry)
                if (take_entry(static_cast<uint32_t>(entry), owner, round == first ? Look::also_reserved : later_rounds))
                    return static_cast<uint32_t>(entry);
    return kNoEntry;
}

} // namespace plumb::shim
