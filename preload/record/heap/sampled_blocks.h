// The blocks that were sampled, or are large (64 KiB and more), and are still alive.
//
// A byte for each of 65,536 groups of pages says whether such a block may begin there, so that free() of nearly any other
// block costs one load and one branch. Pages rather than single addresses: a cache line of the filter then serves
// 256 KiB of the heap, and a program that frees here and there does not miss it each time. A second byte, of addresses,
// separates such a block from its neighbours. Behind both lies a table of buckets of eight addresses, one cache line each.
// Lock-free, signal-safe.
#pragma once

#include "platform/os/hidden.h"

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

struct SampledBlock {
    trace::NodeId path;
    uint64_t weight; // allocations it stands for; 0: not sampled, only of kIndexedBlockBytes and more
    uint64_t bytes;
};

inline constexpr uint32_t kSampledFilterBytes = 1u << 16;
inline constexpr uint64_t kSampledFilterPageBytes = 1u << 12; // what one byte of it speaks for
extern uint8_t sampled_filter[kSampledFilterBytes] PLUMB_HIDDEN;   // of pages; saturating counts
extern uint8_t sampled_addresses[kSampledFilterBytes] PLUMB_HIDDEN; // likewise, of multiples of 8

// Neighbours share cache lines of the filter; the higher bits differ between the heaps of several threads.
inline uint32_t sampled_filter_index(uint64_t address) {
    return static_cast<uint32_t>(address / kSampledFilterPageBytes ^ address >> 28) & (kSampledFilterBytes - 1);
}

inline uint32_t sampled_address_index(uint64_t address) {
    return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 48) & (kSampledFilterBytes - 1);
}

// Whether such a block may begin in the page of this address.
inline bool may_be_watched_near(uint64_t address) {
    return __atomic_load_n(&sampled_filter[sampled_filter_index(address)], __ATOMIC_RELAXED) != 0;
}

// Whether it may be this one. About one block in 120 passes the first of both.
inline bool may_be_watched(const void* block) {
    const auto address = reinterpret_cast<uint64_t>(block);
    return __builtin_expect(may_be_watched_near(address), 0) &&
           __atomic_load_n(&sampled_addresses[sampled_address_index(address)], __ATOMIC_RELAXED) != 0;
}

// Makes may_be_watched() true for this address for good: the hooks must look closer at it.
void watch_always(const void* block);

// False: no room; the block will seem to live for ever unless the caller counts it as freed at once.
bool insert_sampled_block(uint64_t address, const SampledBlock& block);

// Takes the block out, before it is given back. False: not there.
bool take_sampled_block(uint64_t address, SampledBlock* block);

// The block that contains this address, if it begins at most `reach` bytes before it. Looks only: a block that another
// thread frees meanwhile may be found or not.
bool find_sampled_block(uint64_t address, uint64_t reach, uint64_t* start, SampledBlock* block);

// In a forked child: forgets all (the blocks belong to the parent's record) but what is watched always.
void forget_sampled_blocks();

} // namespace plumb::shim
