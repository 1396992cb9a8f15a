// The blocks that were sampled, or are large (64 KiB and more), and are still alive.
//
// A byte for each of 65,536 groups of pages says whether such a block may begin there, so that free() of nearly any other
// block costs one load and one branch. Pages rather than single addresses: a cache line of the filter then serves
// 256 KiB of the heap, and a program that frees here and there does not miss it each time. Behind it lies a table of
// buckets of eight addresses, one cache line each.
// Lock-free, signal-safe.
#pragma once

#include "platform/os/hidden.h"

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

struct LiveBlock {
    trace::NodeId path;
    uint64_t weight; // allocations it stands for; 0: not sampled, only of kSpanBytes and more
    uint64_t bytes;
};

inline constexpr uint32_t kLiveFilterBytes = 1u << 16;
inline constexpr uint64_t kLiveFilterPageBytes = 1u << 12; // what one byte of it speaks for
extern uint8_t live_filter[kLiveFilterBytes] PLUMB_HIDDEN; // saturating counts

// Neighbours share cache lines of the filter; the higher bits tell the heaps of several threads apart.
inline uint32_t live_filter_index(uint64_t address) {
    return static_cast<uint32_t>(address / kLiveFilterPageBytes ^ address >> 28) & (kLiveFilterBytes - 1);
}

inline bool may_be_watched(const void* block) {
    return __atomic_load_n(&live_filter[live_filter_index(reinterpret_cast<uint64_t>(block))], __ATOMIC_RELAXED) != 0;
}

// Makes may_be_watched() true for this address for good: the hooks must look closer at it.
void watch_always(const void* block);

// False: no room; the block will seem to live for ever unless the caller counts it as freed at once.
bool live_insert(uint64_t address, const LiveBlock& block);

// Takes the block out, before it is given back. False: not there.
bool live_take(uint64_t address, LiveBlock* block);

// The block that contains this address, if it begins at most `reach` bytes before it. Looks only: a block that another
// thread frees meanwhile may be found or not.
bool live_find(uint64_t address, uint64_t reach, uint64_t* start, LiveBlock* block);

// In a forked child: forgets all (the blocks belong to the parent's record) but what is watched always.
void live_reset();

} // namespace plumb::shim
