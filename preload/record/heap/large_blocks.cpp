#include "record/heap/large_blocks.h"

#include "platform/os/memory.h"

#include <atomic>
#include <stddef.h>

namespace plumb::shim {

namespace {

constexpr uint32_t kBucketBits = 10, kWays = 8; // 8,192 places: 384 KiB of the file

// Owners of a place that are no addresses of blocks.
constexpr uint64_t kNever = 0, kFreed = 1, kClaimed = 2;

struct Place {
    std::atomic<uint64_t> owner; // address of the living block
    trace::LargeMap* record;     // null: none yet
};
struct Bucket {
    Place places[kWays];
};

constexpr size_t kBytes = sizeof(Bucket) << kBucketBits;

std::atomic<Bucket*> buckets; // pages that are zeroed in a forked child
std::atomic<uint64_t> blocks_refused;

uint64_t get(const uint64_t& field) { return __atomic_load_n(&field, __ATOMIC_RELAXED); }
void set(uint64_t& field, uint64_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }

Bucket* bucket_of(uint64_t address, bool make) {
    Bucket* all = buckets.load(std::memory_order_acquire);
    if (!all && make) {
        Bucket* const pages = static_cast<Bucket*>(allocate_pages(kBytes, true));
        if (!pages)
            return nullptr;
        keep_small_pages(pages, kBytes);
        if (buckets.compare_exchange_strong(all, pages))
            all = pages;
        else
            release_pages(pages, kBytes); // another thread was faster
    }
    return all ? &all[address * 0x9e3779b97f4a7c15u >> (64 - kBucketBits)] : nullptr;
}

bool claim(Place& place, uint64_t owner) { return place.owner.compare_exchange_strong(owner, kClaimed); }

// Null: blocks live in all of them.
Place* claim_place(Bucket& bucket) {
    for (Place& place : bucket.places)
        if (place.owner.load(std::memory_order_relaxed) == kNever && claim(place, kNever))
            return &place;
    for (uint32_t tries = 0; tries < kWays; ++tries) {
        Place* oldest = nullptr;
        for (Place& place : bucket.places)
            if (place.owner.load(std::memory_order_acquire) == kFreed &&
                (!oldest || get(place.record->until_ns) < get(oldest->record->until_ns)))
                oldest = &place;
        if (!oldest)
            return nullptr;
        if (claim(*oldest, kFreed))
            return oldest;
    }
    return nullptr;
}

void end_in(Bucket& bucket, uint64_t address, uint64_t now) {
    for (Place& place : bucket.places)
        if (place.owner.load(std::memory_order_relaxed) == address && claim(place, address)) {
            set(place.record->until_ns, now);
            place.owner.store(kFreed, std::memory_order_release);
        }
}

} // namespace

void large_block_begins(const Guard& guard, uint64_t address, uint64_t bytes, trace::LargeMapKind kind,
                        trace::NodeId path) {
    const uint64_t now = now_ns();
    Bucket* const bucket = bucket_of(address, true);
    if (bucket)
        end_in(*bucket, address, now);
    Place* const place = bucket ? claim_place(*bucket) : nullptr;
    if (place && !place->record)
        place->record = append(guard, trace::RecordType::LargeMap, trace::LargeMap{});
    if (!place || !place->record) {
        if (place)
            place->owner.store(kNever, std::memory_order_release);
        blocks_refused.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    trace::LargeMap& record = *place->record;
    __atomic_store_n(&record.bytes, 0, __ATOMIC_RELEASE); // until the rest is there
    record.header.tid = guard.thread().tid;
    set(record.time_ns, now);
    set(record.until_ns, 0);
    set(record.address, address);
    __atomic_store_n(&record.path, path, __ATOMIC_RELAXED);
    __atomic_store_n(&record.kind, static_cast<uint32_t>(kind), __ATOMIC_RELAXED);
    __atomic_store_n(&record.bytes, bytes, __ATOMIC_RELEASE);
    place->owner.store(address, std::memory_order_release);
}

void large_block_ends(uint64_t address) {
    if (Bucket* const bucket = bucket_of(address, false))
        end_in(*bucket, address, now_ns());
}

LargeBlockEnd large_block_may_end(uint64_t address) {
    Bucket* const bucket = bucket_of(address, false);
    if (!bucket)
        return {};
    for (Place& place : bucket->places)
        if (place.owner.load(std::memory_order_relaxed) == address && claim(place, address)) {
            set(place.record->until_ns, now_ns());
            return {&place, address};
        }
    return {};
}

void large_block_ended(const LargeBlockEnd& end) {
    if (end.place)
        static_cast<Place*>(end.place)->owner.store(kFreed, std::memory_order_release);
}

void large_block_goes_on(const LargeBlockEnd& end) {
    if (!end.place)
        return;
    Place& place = *static_cast<Place*>(end.place);
    set(place.record->until_ns, 0);
    place.owner.store(end.address, std::memory_order_release);
}

void start_large_blocks() {
    blocks_refused.store(0, std::memory_order_relaxed);
    if (Bucket* const others = buckets.exchange(nullptr)) // of the process that forked
        release_pages(others, kBytes);
}

uint64_t large_blocks_refused() { return blocks_refused.load(std::memory_order_relaxed); }

} // namespace plumb::shim
