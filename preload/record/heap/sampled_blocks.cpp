#include "record/heap/sampled_blocks.h"

#include "platform/os/lazy_pages.h"
#include "record/heap/slot_table.h"

namespace plumb::shim {

uint8_t sampled_filter[kSampledFilterBytes];
uint8_t sampled_addresses[kSampledFilterBytes];

namespace {

constexpr uint8_t kSaturated = 255;

// By address: from before the program learns it until before it is given back.
using SampleTable = SlotTable<SampledBlock, 16, 4>;
SampleTable* sample_table;

bool any(const SampledBlock&) { return true; }

void raise(uint8_t& count) {
    uint8_t old = __atomic_load_n(&count, __ATOMIC_RELAXED);
    while (old != kSaturated && !__atomic_compare_exchange_n(&count, &old, static_cast<uint8_t>(old + 1), false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void lower(uint8_t& count) {
    uint8_t old = __atomic_load_n(&count, __ATOMIC_RELAXED);
    // A saturated count no longer knows how many there are: it stays.
    while (old != kSaturated && old != 0 &&
           !__atomic_compare_exchange_n(&count, &old, static_cast<uint8_t>(old - 1), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

void raise_filters(uint64_t address) {
    raise(sampled_filter[sampled_filter_index(address)]);
    raise(sampled_addresses[sampled_address_index(address)]);
}

void lower_filters(uint64_t address) {
    lower(sampled_addresses[sampled_address_index(address)]);
    lower(sampled_filter[sampled_filter_index(address)]);
}

} // namespace

void watch_always(const void* block) {
    const auto address = reinterpret_cast<uint64_t>(block);
    __atomic_store_n(&sampled_filter[sampled_filter_index(address)], kSaturated, __ATOMIC_RELAXED);
    __atomic_store_n(&sampled_addresses[sampled_address_index(address)], kSaturated, __ATOMIC_RELAXED);
}

bool insert_sampled_block(uint64_t address, const SampledBlock& block) {
    SampleTable* const t = open_pages(&sample_table, true);
    if (!t || !t->insert(address, block))
        return false;
    raise_filters(address);
    return true;
}

bool take_sampled_block(uint64_t address, SampledBlock* block) {
    SampleTable* const t = __atomic_load_n(&sample_table, __ATOMIC_ACQUIRE);
    if (!t || !t->take(address, [&](const SampledBlock& found) {
            *block = found;
            return true;
        }))
        return false;
    lower_filters(address);
    return true;
}

bool find_sampled_block(uint64_t address, uint64_t reach, uint64_t* start, SampledBlock* block) {
    const SampleTable* const t = __atomic_load_n(&sample_table, __ATOMIC_ACQUIRE);
    if (!t)
        return false;
    // Some allocators place blocks of at most 8 bytes at odd multiples of 8.
    if (const uint64_t eight = address & ~uint64_t{7}; eight & 8 && may_be_watched(reinterpret_cast<void*>(eight)) &&
                                                       t->find(eight, block, any) && address - eight < block->bytes) {
        *start = eight;
        return true;
    }
    const uint64_t last = address > reach ? address - reach : 0;
    uint64_t at = address & ~uint64_t{15};
    while (at >= last && at != 0) {
        if (!may_be_watched_near(at)) {
            const uint64_t page = at & ~(kSampledFilterPageBytes - 1); // nor does one begin anywhere else in it
            at = page ? page - 16 : 0;
            continue;
        }
        if (t->find(at, block, any)) {
            *start = at;
            return address - at < block->bytes; // blocks do not overlap: none further out reaches over this one
        }
        at -= 16;
    }
    return false;
}

void forget_sampled_blocks() {
    if (!__atomic_load_n(&sample_table, __ATOMIC_ACQUIRE)) // nothing was ever put in: at start the filter's pages stay untouched
        return;
    for (uint32_t i = 0; i < kSampledFilterBytes; ++i) {
        if (sampled_filter[i] != kSaturated)
            sampled_filter[i] = 0;
        if (sampled_addresses[i] != kSaturated)
            sampled_addresses[i] = 0;
    }
}

} // namespace plumb::shim
