// The table that all processes of one pinned group share: which position of the list of CPUs is held by whom.
// A file named by PLUMB_PIN_GROUP, mapped MAP_SHARED by the shim in every process of the group, made (zeroed, at
// its full size) by `plumb` before the first starts, and read by it at the end.
//
// What must hold:
//  - Entry i stands for the CPU at position i % length of PLUMB_PIN. An entry has one holder; it is taken by
//    compare-and-swap on `owner` and given back by storing 0. Nobody ever waits.
//  - An owner that no longer exists (killed) loses its entry to the next who looks. A process keeps its entry
//    over exec: the new image finds its own number in the table.
//  - A reservation is an entry taken by a parent for the child it is about to make, so that children take their
//    places in the order of their creation, not in the order in which they happen to get going.
//  - Everything but `owner` is written by the holder only and read for display; it may lag behind.
#pragma once

#include <stdint.h>

namespace plumb::pin {

inline constexpr uint64_t kGroupMagic = 0x31305055'4f524750; // "PGROUP01"
inline constexpr uint32_t kGroupEntries = 16384;

// owner: pid << 32 | tid; tid 0: reserved by or for process pid.
constexpr uint64_t owner(uint32_t pid, uint32_t tid) { return static_cast<uint64_t>(pid) << 32 | tid; }
constexpr uint32_t owner_pid(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint32_t owner_tid(uint64_t value) { return static_cast<uint32_t>(value); }

struct GroupEntry {
    uint64_t owner;      //  0  0: free
    uint32_t pid;        //  8  last thread that was pinned here
    uint32_t tid;        // 12
    uint32_t uses;       // 16  threads that were pinned here so far
    int32_t cpu;         // 20  valid if uses > 0: the CPU it was given, -1: refused
    int32_t memory_node; // 24  -1: memory not bound
    int32_t error;       // 28  errno of the refusal
    char name[32];       // 32  program of the last thread, NUL-terminated
};
static_assert(sizeof(GroupEntry) == 64);

struct Group {
    uint64_t magic;         //  0
    uint32_t entries;       //  8  kGroupEntries
    uint32_t threads;       // 12  threads pinned so far
    uint32_t skipped;       // 16  helper threads left alone
    uint32_t kept;          // 20  threads whose creator had given them CPUs of its own
    uint32_t failed;        // 24  the kernel refused
    uint32_t wrapped;       // 28  threads that had to share a CPU: more threads than positions
    uint32_t used;          // 32  entries from this one on were never taken
    uint8_t reserved[28];   // 36
    GroupEntry entry[kGroupEntries];
};
static_assert(sizeof(Group) == 64 + 64 * kGroupEntries);

} // namespace plumb::pin
