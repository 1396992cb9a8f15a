// The tables by which a loaded image takes and gives symbols, as they lie in memory.
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

struct DynamicSection {
    struct Relocations {
        const ElfW(Rela) * first = nullptr;
        size_t count = 0;
    };
    ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const uint32_t* gnu_hash = nullptr; // DT_GNU_HASH
    Relocations data, calls;
};

// Symbols that others may look up, chained by the hashes of their names: those of a bucket follow one another in the symbol
// table from buckets[i] on, and the lowest bit of the last one's hash is set.
struct GnuHash {
    uint32_t bucket_count, first; // the number of the first symbol that stands in it
    const uint32_t* buckets;      // numbers of symbols, 0: empty
    const uint32_t* hashes;       // of symbol `first` and those behind it, but for the lowest bit
};

// What the image does not have stays null; all of it in images without a dynamic section. Signal-safe.
DynamicSection read_dynamic_section(const dl_phdr_info& image);

GnuHash read_gnu_hash(const uint32_t* table);

} // namespace plumb::shim
