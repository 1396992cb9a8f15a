// Who gets which position of the group's list: the rules, apart from processes and system calls. See
// include/plumb/pin_group.h for the table itself.
//
// The lowest position that no living thread holds is taken, so threads and processes get positions in the order of
// their creation, and what short-lived ones leave is used again. Lock-free; signal-safe.
#pragma once

#include <plumb/pin_group.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr uint32_t kNoEntry = UINT32_MAX;
// tid of an owner that is a thread about to be created.
inline constexpr uint32_t kComingThread = UINT32_MAX;
// tid of an owner that is about to fork: the entry is for the child, which is not there yet to take it.
inline constexpr uint32_t kComingProcess = UINT32_MAX - 1;

constexpr bool is_reservation(uint64_t owner) {
    return owner != 0 && (pin::owner_tid(owner) == 0 || pin::owner_tid(owner) == kComingProcess);
}

class PinTable {
  public:
    // `positions`: length of the list, at least 1. `alive` says whether an owner still exists.
    PinTable(pin::Group& group, uint32_t positions, bool (*alive)(uint64_t owner))
        : group_(&group), positions_(positions), alive_(alive) {}
    PinTable() = default;

    uint32_t position_of(uint32_t entry) const { return entry % positions_; }
    bool wrapped(uint32_t entry) const { return entry >= positions_; }
    pin::GroupEntry& at(uint32_t entry) const { return group_->entry[entry]; }
    pin::Group& group() const { return *group_; }

    // The entry that process `pid` holds or that is reserved for it. kNoEntry: none.
    uint32_t find_process(uint32_t pid) const;

    // The lowest free entry, for a process or thread of a group without blocks.
    uint32_t take(uint64_t owner) const;

    // The first entry of the lowest block of `stride` entries whose first one is free.
    uint32_t take_block(uint64_t owner, uint32_t stride) const;

    // The lowest free entry of the block [first, first + stride); when it is full the same positions once more.
    // Reservations of others give way: the block is the caller's by right (its local rank).
    uint32_t take_in_block(uint64_t owner, uint32_t first, uint32_t stride) const;

    // Hands `entry` from one owner to another; false: it is not `from`'s any more.
    bool hand_over(uint32_t entry, uint64_t from, uint64_t to) const;
    void release(uint32_t entry, uint64_t owner) const { hand_over(entry, owner, 0); }

  private:
    enum class Look { free_only, also_dead, also_reserved }; // each includes the one before
    bool take_entry(uint32_t entry, uint64_t owner, Look look) const;

    pin::Group* group_ = nullptr;
    uint32_t positions_ = 1;
    bool (*alive_)(uint64_t) = nullptr;
};

} // namespace plumb::shim
