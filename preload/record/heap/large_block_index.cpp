// The table is wiped in forked children, whose paths are other ones.
#include "record/heap/large_block_index.h"

#include "platform/os/lazy_pages.h"
#include "record/heap/slot_table.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kLeastBits = 16; // kIndexedBlockBytes
constexpr uint32_t kIndexedBits = 47; // of addresses: those of user space
constexpr uint32_t kIndexBucketBits = 13;
constexpr uint32_t kTriedBuckets = 2;
static_assert(kIndexedBlockBytes == uint64_t{1} << kLeastBits);

struct Span {
    uint64_t start, bytes;
    trace::NodeId path;
};

struct BlockIndex {
    uint32_t blocks_of_class[64]; // how many stand in the table
    SlotTable<Span, kIndexBucketBits, kTriedBuckets> spans;
};
BlockIndex* block_index;

uint32_t class_of(uint64_t bytes) { return 63 - static_cast<uint32_t>(__builtin_clzll(bytes)); }

// A multiple of 2^size_class has room for the class in its low bits. Never 0 nor kBusy.
uint64_t key_of(uint64_t multiple, uint32_t size_class) { return multiple | size_class; }

uint64_t first_multiple(uint64_t start, uint32_t size_class) {
    const uint64_t unit = uint64_t{1} << size_class;
    return (start + unit - 1) & ~(unit - 1);
}

bool is_span(uint64_t start, uint64_t bytes) {
    return bytes >= kIndexedBlockBytes && start >> kIndexedBits == 0 && bytes >> kIndexedBits == 0;
}

} // namespace

void index_large_block(uint64_t start, uint64_t bytes, trace::NodeId path) {
    BlockIndex* t;
    if (!is_span(start, bytes) || !(t = open_pages(&block_index, true)))
        return;
    const uint32_t size_class = class_of(bytes);
    if (t->spans.insert(key_of(first_multiple(start, size_class), size_class), {start, bytes, path}))
        __atomic_add_fetch(&t->blocks_of_class[size_class], 1, __ATOMIC_RELAXED);
}

void unindex_large_block(uint64_t start, uint64_t bytes) {
    BlockIndex* const t = __atomic_load_n(&block_index, __ATOMIC_ACQUIRE);
    if (!t || !is_span(start, bytes))
        return;
    const uint32_t size_class = class_of(bytes);
    if (t->spans.take(key_of(first_multiple(start, size_class), size_class),
                      [&](const Span& span) { return span.start == start; }))
        __atomic_sub_fetch(&t->blocks_of_class[size_class], 1, __ATOMIC_RELAXED);
}

bool find_indexed_block(uint64_t address, uint64_t* start, uint64_t* bytes, trace::NodeId* path) {
    const BlockIndex* const t = __atomic_load_n(&block_index, __ATOMIC_ACQUIRE);
    if (!t || address >> kIndexedBits)
        return false;
    for (uint32_t size_class = kLeastBits; size_class < kIndexedBits; ++size_class) {
        if (__atomic_load_n(&t->blocks_of_class[size_class], __ATOMIC_RELAXED) == 0)
            continue;
        // A block of this class begins at most 2 units before the address and has its first multiple behind its
        // beginning, less than one unit further.
        const uint64_t unit = uint64_t{1} << size_class;
        const uint64_t below = address & ~(unit - 1);
        for (uint64_t multiple = below > unit ? below - unit : 0; multiple <= below + unit; multiple += unit) {
            Span found{};
            if (t->spans.find(key_of(multiple, size_class), &found,
                              [&](const Span& span) { return address - span.start < span.bytes; })) {
                *start = found.start;
                *bytes = found.bytes;
                *path = found.path;
                return true;
            }
        }
    }
    return false;
}

} // namespace plumb::shim
