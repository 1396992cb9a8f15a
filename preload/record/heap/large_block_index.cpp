// What must hold: a block is here only while the program may use it, so at most one thread works on its entry. A slot
// goes 0 -> kBusy -> key -> 0; the content is written while it is busy. The table is wiped in forked children, whose
// paths are other ones.
#include "record/heap/large_block_index.h"

#include "platform/os/lazy_pages.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kLeastBits = 16; // kIndexedBlockBytes
constexpr uint32_t kAddressBits = 47;
constexpr uint32_t kBuckets = 1u << 13;
constexpr uint32_t kWays = 8;
constexpr uint32_t kTriedBuckets = 2;
constexpr uint64_t kBusy = 1;
static_assert(kIndexedBlockBytes == uint64_t{1} << kLeastBits);

struct Span {
    uint64_t start, bytes;
    trace::NodeId path;
};

struct Table {
    uint32_t blocks_of_class[64]; // how many stand in the table
    uint64_t keys[kBuckets][kWays];
    Span spans[kBuckets][kWays];
};
Table* table;

// Who only looks may read in the middle of a change, and finds out afterwards: the words are atomic, the whole is not.
Span load(const Span& place) {
    return {__atomic_load_n(&place.start, __ATOMIC_RELAXED), __atomic_load_n(&place.bytes, __ATOMIC_RELAXED),
            __atomic_load_n(&place.path, __ATOMIC_RELAXED)};
}

void store(Span& place, const Span& span) {
    __atomic_store_n(&place.start, span.start, __ATOMIC_RELAXED);
    __atomic_store_n(&place.bytes, span.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&place.path, span.path, __ATOMIC_RELAXED);
}

uint32_t class_of(uint64_t bytes) { return 63 - static_cast<uint32_t>(__builtin_clzll(bytes)); }

// A multiple of 2^size_class has room for the class in its low bits. Never 0 nor kBusy.
uint64_t key_of(uint64_t multiple, uint32_t size_class) { return multiple | size_class; }

uint64_t first_multiple(uint64_t start, uint32_t size_class) {
    const uint64_t unit = uint64_t{1} << size_class;
    return (start + unit - 1) & ~(unit - 1);
}

uint32_t home_of(uint64_t key) { return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> 51); }

// Calls action(bucket, way) for the places of this key until it returns true.
template <class Action> bool at_places_of(uint64_t key, Action action) {
    for (uint32_t tried = 0; tried < kTriedBuckets; ++tried) {
        const uint32_t bucket = (home_of(key) + tried) & (kBuckets - 1);
        for (uint32_t way = 0; way < kWays; ++way)
            if (action(bucket, way))
                return true;
    }
    return false;
}

bool is_span(uint64_t start, uint64_t bytes) {
    return bytes >= kIndexedBlockBytes && start >> kAddressBits == 0 && bytes >> kAddressBits == 0;
}

} // namespace

void index_large_block(uint64_t start, uint64_t bytes, trace::NodeId path) {
    Table* t;
    if (!is_span(start, bytes) || !(t = open_pages(&table, true)))
        return;
    const uint32_t size_class = class_of(bytes);
    const uint64_t key = key_of(first_multiple(start, size_class), size_class);
    at_places_of(key, [&](uint32_t bucket, uint32_t way) {
        uint64_t* const slot = &t->keys[bucket][way];
        uint64_t owner = __atomic_load_n(slot, __ATOMIC_RELAXED);
        if (owner != 0 || !__atomic_compare_exchange_n(slot, &owner, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return false;
        __atomic_thread_fence(__ATOMIC_RELEASE); // who sees any of what follows sees that the slot is busy
        store(t->spans[bucket][way], {start, bytes, path});
        __atomic_store_n(slot, key, __ATOMIC_RELEASE);
        __atomic_add_fetch(&t->blocks_of_class[size_class], 1, __ATOMIC_RELAXED);
        return true;
    });
}

void unindex_large_block(uint64_t start, uint64_t bytes) {
    Table* const t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t || !is_span(start, bytes))
        return;
    const uint32_t size_class = class_of(bytes);
    const uint64_t key = key_of(first_multiple(start, size_class), size_class);
    at_places_of(key, [&](uint32_t bucket, uint32_t way) {
        uint64_t* const slot = &t->keys[bucket][way];
        if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != key || load(t->spans[bucket][way]).start != start)
            return false;
        __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
        __atomic_sub_fetch(&t->blocks_of_class[size_class], 1, __ATOMIC_RELAXED);
        return true;
    });
}

bool find_indexed_block(uint64_t address, uint64_t* start, uint64_t* bytes, trace::NodeId* path) {
    const Table* const t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    if (!t || address >> kAddressBits)
        return false;
    for (uint32_t size_class = kLeastBits; size_class < kAddressBits; ++size_class) {
        if (__atomic_load_n(&t->blocks_of_class[size_class], __ATOMIC_RELAXED) == 0)
            continue;
        // A block of this class begins at most 2 units before the address and has its first multiple behind its
        // beginning, less than one unit further.
        const uint64_t unit = uint64_t{1} << size_class;
        const uint64_t below = address & ~(unit - 1);
        for (uint64_t multiple = below > unit ? below - unit : 0; multiple <= below + unit; multiple += unit) {
            const uint64_t key = key_of(multiple, size_class);
            Span span{};
            if (at_places_of(key, [&](uint32_t bucket, uint32_t way) {
                    const uint64_t* const slot = &t->keys[bucket][way];
                    if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != key)
                        return false;
                    span = load(t->spans[bucket][way]);
                    __atomic_thread_fence(__ATOMIC_ACQUIRE);
                    return __atomic_load_n(slot, __ATOMIC_RELAXED) == key && address - span.start < span.bytes;
                })) {
                *start = span.start;
                *bytes = span.bytes;
                *path = span.path;
                return true;
            }
        }
    }
    return false;
}

} // namespace plumb::shim
