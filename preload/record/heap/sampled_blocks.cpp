// What must hold: an address is in the table from before the program learns it until before it is given back, so at
// most one thread works on an entry's content. A slot goes 0 -> kBusy -> address -> 0; the content is written while
// it is busy.
#include "record/heap/sampled_blocks.h"

#include "platform/os/lazy_pages.h"

namespace plumb::shim {

uint8_t sampled_filter[kSampledFilterBytes];

namespace {

constexpr uint32_t kBuckets = 1u << 16;
constexpr uint32_t kWays = 8;
constexpr uint32_t kTriedBuckets = 4;
constexpr uint64_t kBusy = 1;
constexpr uint8_t kSaturated = 255;

struct Table {
    uint64_t addresses[kBuckets][kWays];
    SampledBlock blocks[kBuckets][kWays];
};
Table* table;

// Who only looks may read in the middle of a change, and finds out afterwards: the words are atomic, the whole is not.
SampledBlock load(const SampledBlock& place) {
    return {__atomic_load_n(&place.path, __ATOMIC_RELAXED), __atomic_load_n(&place.weight, __ATOMIC_RELAXED),
            __atomic_load_n(&place.bytes, __ATOMIC_RELAXED)};
}

void store(SampledBlock& place, const SampledBlock& block) {
    __atomic_store_n(&place.path, block.path, __ATOMIC_RELAXED);
    __atomic_store_n(&place.weight, block.weight, __ATOMIC_RELAXED);
    __atomic_store_n(&place.bytes, block.bytes, __ATOMIC_RELAXED);
}

uint32_t home_of(uint64_t address) { return static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 48); }

void raise_filter(uint64_t address) {
    uint8_t* count = &sampled_filter[sampled_filter_index(address)];
    uint8_t old = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (old != kSaturated && !__atomic_compare_exchange_n(count, &old, static_cast<uint8_t>(old + 1), false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void lower_filter(uint64_t address) {
    uint8_t* count = &sampled_filter[sampled_filter_index(address)];
    uint8_t old = __atomic_load_n(count, __ATOMIC_RELAXED);
    // A saturated count no longer knows how many there are: it stays.
    while (old != kSaturated && old != 0 &&
           !__atomic_compare_exchange_n(count, &old, static_cast<uint8_t>(old - 1), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

// Copies what is known of the block at this address. What was read in the middle of a change is not believed.
bool peek(const Table* t, uint64_t address, SampledBlock* block) {
    for (uint32_t tried = 0; tried < kTriedBuckets; ++tried) {
        const uint32_t bucket = (home_of(address) + tried) & (kBuckets - 1);
        for (uint32_t way = 0; way < kWays; ++way) {
            const uint64_t* slot = &t->addresses[bucket][way];
            if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != address)
                continue;
            *block = load(t->blocks[bucket][way]);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            return __atomic_load_n(slot, __ATOMIC_RELAXED) == address;
        }
    }
    return false;
}

} // namespace

void watch_always(const void* block) {
    __atomic_store_n(&sampled_filter[sampled_filter_index(reinterpret_cast<uint64_t>(block))], kSaturated, __ATOMIC_RELAXED);
}

bool insert_sampled_block(uint64_t address, const SampledBlock& block) {
    Table* const t = open_pages(&table, true);
    if (!t)
        return false;
    for (uint32_t tried = 0; tried < kTriedBuckets; ++tried) {
        const uint32_t bucket = (home_of(address) + tried) & (kBuckets - 1);
        for (uint32_t way = 0; way < kWays; ++way) {
            uint64_t* slot = &t->addresses[bucket][way];
            uint64_t owner = __atomic_load_n(slot, __ATOMIC_RELAXED);
            if (owner != 0 ||
                !__atomic_compare_exchange_n(slot, &owner, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                continue;
            __atomic_thread_fence(__ATOMIC_RELEASE); // who sees any of what follows sees that the slot is busy
            store(t->blocks[bucket][way], block);
            __atomic_store_n(slot, address, __ATOMIC_RELEASE);
            raise_filter(address);
            return true;
        }
    }
    return false;
}

bool take_sampled_block(uint64_t address, SampledBlock* block) {
    Table* const t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t)
        return false;
    for (uint32_t tried = 0; tried < kTriedBuckets; ++tried) {
        const uint32_t bucket = (home_of(address) + tried) & (kBuckets - 1);
        for (uint32_t way = 0; way < kWays; ++way) {
            uint64_t* slot = &t->addresses[bucket][way];
            if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != address)
                continue;
            *block = load(t->blocks[bucket][way]);
            __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
            lower_filter(address);
            return true;
        }
    }
    return false;
}

bool find_sampled_block(uint64_t address, uint64_t reach, uint64_t* start, SampledBlock* block) {
    const Table* const t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t)
        return false;
    // Some allocators place blocks of at most 8 bytes at odd multiples of 8.
    if (const uint64_t eight = address & ~uint64_t{7}; eight & 8 && may_be_watched(reinterpret_cast<void*>(eight)) &&
                                                       peek(t, eight, block) && address - eight < block->bytes) {
        *start = eight;
        return true;
    }
    const uint64_t last = address > reach ? address - reach : 0;
    uint64_t at = address & ~uint64_t{15};
    while (at >= last && at != 0) {
        if (!may_be_watched(reinterpret_cast<void*>(at))) {
            const uint64_t page = at & ~(kSampledFilterPageBytes - 1); // nor does one begin anywhere else in it
            at = page ? page - 16 : 0;
            continue;
        }
        if (peek(t, at, block)) {
            *start = at;
            return address - at < block->bytes; // blocks do not overlap: none further out reaches over this one
        }
        at -= 16;
    }
    return false;
}

void forget_sampled_blocks() {
    if (!__atomic_load_n(&table, __ATOMIC_ACQUIRE)) // nothing was ever put in: at start the filter's pages stay untouched
        return;
    for (uint8_t& count : sampled_filter)
        if (count != kSaturated)
            count = 0;
}

} // namespace plumb::shim
