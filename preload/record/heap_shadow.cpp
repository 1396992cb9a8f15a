// Words of the table:
//   0                                        nothing recorded
//   path + 1 (26 bits) << 6 | 0              the next word holds the size (bit 31: in units of 64 KiB)
//   path + 1 (26 bits) << 6 | size << 1 | 1  a block of at most 16 bytes
// Some allocators place blocks of at most 8 bytes at multiples of 8: two of them share 16 bytes of address space.
// The second of such a pair has its word in a second table.
#include "record/heap_shadow.h"

#include "platform/memory.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kAddressBits = 47;
constexpr uint32_t kLeafBits = 26; // 64 MiB of address space a leaf
constexpr uint32_t kGranuleBits = 4;
constexpr size_t kLeafWords = size_t{1} << (kLeafBits - kGranuleBits);
constexpr size_t kRootEntries = size_t{1} << (kAddressBits - kLeafBits);
constexpr uint64_t kTinyBytes = 16;
constexpr uint32_t kMaxPath = (1u << 25) - 1;
constexpr uint32_t kCoarse = 1u << 31;

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
    Leaf* made = static_cast<Leaf*>(allocate_pages(kLeafWords * sizeof(uint32_t), true));
    if (!made)
        return nullptr;
    keep_small_pages(made, kLeafWords * sizeof(uint32_t)); // a word here and there must not cost 2 MiB
    Leaf* current = nullptr;
    if (__atomic_compare_exchange_n(place, &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, kLeafWords * sizeof(uint32_t));
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

} // namespace

bool shadow_store(uint64_t address, trace::NodeId path, uint64_t bytes) {
    uint32_t* const word = find_word(address, true);
    if (!word || path > kMaxPath)
        return false;
    const uint32_t owner = (path + 1) << 6;
    if (bytes <= kTinyBytes) {
        __atomic_store_n(word, owner | static_cast<uint32_t>(bytes) << 1 | 1, __ATOMIC_RELAXED);
        return true;
    }
    // A leaf ends at a multiple of 64 MiB; a block that begins in its last 16 bytes does not exist: allocators keep
    // their own data before the block, and page-aligned blocks begin elsewhere. Were there one, it stays unknown.
    if ((address >> kGranuleBits & (kLeafWords - 1)) == kLeafWords - 1)
        return false;
    const uint32_t size = bytes < kCoarse ? static_cast<uint32_t>(bytes)
                                          : kCoarse | static_cast<uint32_t>((bytes + 0xffff) >> 16);
    __atomic_store_n(word + 1, size, __ATOMIC_RELAXED);
    __atomic_store_n(word, owner, __ATOMIC_RELAXED);
    return true;
}

ShadowEntry shadow_take(uint64_t address) {
    uint32_t* const word = find_word(address, false);
    if (!word)
        return {false, 0, 0};
    const uint32_t owner = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (owner == 0)
        return {false, 0, 0};
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
    const trace::NodeId path = (owner >> 6) - 1;
    if (owner & 1)
        return {true, path, owner >> 1 & 31};
    // The size goes too: that word is where a later block may begin.
    const uint32_t size = __atomic_load_n(word + 1, __ATOMIC_RELAXED);
    __atomic_store_n(word + 1, 0, __ATOMIC_RELAXED);
    return {true, path, size & kCoarse ? uint64_t{size & ~kCoarse} << 16 : size};
}

} // namespace plumb::shim
