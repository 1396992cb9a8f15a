// Words of the table:
//   0                                                nothing recorded
//   1 << 31 | path + 1 (25 bits) << 6 | 0              the next word holds the size
//   1 << 31 | path + 1 (25 bits) << 6 | size << 1 | 1  a block of at most 16 bytes
//   0 << 31 | wide << 30 | size modulo 2^30            a size; wide: the word behind it has the size's upper bits
// So bit 31 says where a block begins, whichever way the table is read.
// Some allocators place blocks of at most 8 bytes at multiples of 8: two of them share 16 bytes of address space.
// The second of such a pair has its word in a second table.
#include "record/heap/heap_shadow.h"

#include "platform/os/memory.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kAddressBits = 47;
constexpr uint32_t kLeafBits = 26; // 64 MiB of address space a leaf
constexpr uint32_t kGranuleBits = 4;
constexpr size_t kLeafWords = size_t{1} << (kLeafBits - kGranuleBits);
constexpr size_t kLeafBytes = (kLeafWords + 2) * sizeof(uint32_t); // the size of a block that begins at its very end
constexpr size_t kRootEntries = size_t{1} << (kAddressBits - kLeafBits);
constexpr uint64_t kTinyBytes = 16;
constexpr uint32_t kMaxPath = (1u << 25) - 2;
constexpr uint32_t kBegins = 1u << 31;
constexpr uint32_t kWide = 1u << 30;
constexpr uint32_t kSizeBits = 30;

using Leaf = uint32_t; // its first word
Leaf** roots[2]; // wiped in forked children, whose paths are other ones

// One page directory a table, made at first use.
[[gnu::noinline]] Leaf** open_root(uint32_t table) {
    Leaf** current = __atomic_load_n(&roots[table], __ATOMIC_ACQUIRE);
    if (current)
        return current;
    Leaf** made = static_cast<Leaf**>(allocate_pages(kRootEntries * sizeof(Leaf*), true));
    if (!made)
        return nullptr;
    if (__atomic_compare_exchange_n(&roots[table], &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, kRootEntries * sizeof(Leaf*));
    return current;
}

[[gnu::noinline]] Leaf* open_leaf(Leaf** place) {
    Leaf* made = static_cast<Leaf*>(allocate_pages(kLeafBytes, true));
    if (!made)
        return nullptr;
    keep_small_pages(made, kLeafBytes); // a word here and there must not cost 2 MiB
    Leaf* current = nullptr;
    if (__atomic_compare_exchange_n(place, &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, kLeafBytes);
    return current;
}

uint32_t table_of(uint64_t address) { return address >> 3 & 1; }

// Inlined in both places: every event comes here.
[[gnu::always_inline]] inline uint32_t* find_word(uint64_t address, bool create) {
    if (address >> kAddressBits)
        return nullptr;
    Leaf** root = __atomic_load_n(&roots[table_of(address)], __ATOMIC_ACQUIRE);
    if (__builtin_expect(!root, 0) && (!create || !(root = open_root(table_of(address)))))
        return nullptr;
    Leaf** place = &root[address >> kLeafBits];
    Leaf* leaf = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!leaf, 0) && (!create || !(leaf = open_leaf(place))))
        return nullptr;
    return &leaf[address >> kGranuleBits & (kLeafWords - 1)];
}

// The words behind an owner that hold its size.
uint64_t size_behind(const uint32_t* owner) {
    const uint32_t size = __atomic_load_n(owner + 1, __ATOMIC_RELAXED);
    if (__builtin_expect(!(size & kWide), 1))
        return size;
    return (size & ~kWide) | uint64_t{__atomic_load_n(owner + 2, __ATOMIC_RELAXED)} << kSizeBits;
}

ShadowEntry entry_at(const uint32_t* word, uint32_t owner) {
    const trace::NodeId path = ((owner & ~kBegins) >> 6) - 1;
    return {true, path, owner & 1 ? owner >> 1 & 31 : size_behind(word)};
}

// The last block of one table that begins at `address` or up to `reach` bytes before. Null: none.
const uint32_t* find_owner(uint32_t table, uint64_t address, uint64_t reach, uint64_t* start) {
    Leaf** const root = __atomic_load_n(&roots[table], __ATOMIC_ACQUIRE);
    const uint64_t offset = uint64_t{table} << 3; // of its blocks in their 16 bytes
    if (!root || address >> kAddressBits || address < offset)
        return nullptr;
    uint64_t granule = (address - offset) >> kGranuleBits;
    const uint64_t reached = reach >> kGranuleBits;
    const uint64_t last = granule > reached ? granule - reached : 0;
    for (;;) {
        const uint64_t leaf_begins = granule & ~uint64_t{kLeafWords - 1};
        const uint64_t until = leaf_begins > last ? leaf_begins : last;
        if (const Leaf* leaf = __atomic_load_n(&root[granule / kLeafWords], __ATOMIC_ACQUIRE))
            for (uint64_t at = granule + 1; at-- > until;)
                if (__atomic_load_n(&leaf[at - leaf_begins], __ATOMIC_RELAXED) & kBegins) {
                    *start = at << kGranuleBits | offset;
                    return &leaf[at - leaf_begins];
                }
        if (until == last)
            return nullptr;
        granule = leaf_begins - 1;
    }
}

} // namespace

bool shadow_store(uint64_t address, trace::NodeId path, uint64_t bytes) {
    uint32_t* const word = find_word(address, true);
    if (!word || path > kMaxPath)
        return false;
    const uint32_t owner = kBegins | (path + 1) << 6;
    if (bytes <= kTinyBytes) {
        __atomic_store_n(word, owner | static_cast<uint32_t>(bytes) << 1 | 1, __ATOMIC_RELAXED);
        return true;
    }
    uint32_t size = static_cast<uint32_t>(bytes);
    if (__builtin_expect(bytes >> kSizeBits, 0)) {
        size = (size & (kWide - 1)) | kWide;
        __atomic_store_n(word + 2, static_cast<uint32_t>(bytes >> kSizeBits), __ATOMIC_RELAXED);
    }
    __atomic_store_n(word + 1, size, __ATOMIC_RELAXED);
    __atomic_store_n(word, owner, __ATOMIC_RELAXED);
    return true;
}

ShadowEntry shadow_take(uint64_t address) {
    uint32_t* const word = find_word(address, false);
    if (!word)
        return {false, 0, 0};
    const uint32_t owner = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (!(owner & kBegins))
        return {false, 0, 0};
    const ShadowEntry entry = entry_at(word, owner);
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
    if (owner & 1)
        return entry;
    // The size goes too: that word is where a later block may begin.
    __atomic_store_n(word + 1, 0, __ATOMIC_RELAXED);
    if (__builtin_expect(entry.bytes >> kSizeBits, 0))
        __atomic_store_n(word + 2, 0, __ATOMIC_RELAXED);
    return entry;
}

bool shadow_find(uint64_t address, uint64_t reach, uint64_t* start, ShadowEntry* entry) {
    bool found = false;
    for (uint32_t table = 0; table < 2; ++table) {
        uint64_t begins = 0;
        const uint32_t* const word = find_owner(table, address, reach, &begins);
        if (!word || (found && begins < *start))
            continue;
        const uint32_t owner = __atomic_load_n(word, __ATOMIC_RELAXED);
        if (!(owner & kBegins))
            continue; // freed a moment ago
        const ShadowEntry candidate = entry_at(word, owner);
        if (address - begins >= candidate.bytes)
            continue;
        *start = begins;
        *entry = candidate;
        found = true;
    }
    return found;
}

} // namespace plumb::shim
