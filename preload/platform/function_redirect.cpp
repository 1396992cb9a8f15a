#include "platform/function_redirect.h"

#include "platform/system_call.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace plumb::shim {
namespace {

struct SymbolTable {
    ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const uint32_t* hash = nullptr; // DT_GNU_HASH
};

// The loader adds the image's base to the addresses in the dynamic section, but not in images that it cannot write.
template <class Pointer> void set_address(const dl_phdr_info& image, ElfW(Addr) value, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(value < image.dlpi_addr ? value + image.dlpi_addr : value);
}

SymbolTable read_symbol_table(const dl_phdr_info& image) {
    SymbolTable table;
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < image.dlpi_phnum; ++i)
        if (image.dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = reinterpret_cast<const ElfW(Dyn)*>(image.dlpi_addr + image.dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; ++entry) {
        const ElfW(Addr) value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: set_address(image, value, table.symbols); break;
        case DT_STRTAB: set_address(image, value, table.names); break;
        case DT_GNU_HASH: set_address(image, value, table.hash); break;
        default: break;
        }
    }
    return table;
}

uint32_t hash_of(const char* name) {
    uint32_t hash = 5381;
    for (; *name; ++name)
        hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// The image's functions of this name, one for each version.
template <class Action> void for_each_version(const SymbolTable& table, const char* name, Action action) {
    const uint32_t buckets = table.hash[0], first = table.hash[1], bloom_words = table.hash[2];
    const uint32_t* const bucket = table.hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t* const chain = bucket + buckets;
    const uint32_t wanted = hash_of(name);
    uint32_t at = buckets ? bucket[wanted % buckets] : 0;
    if (at < first)
        return;
    for (;; ++at) {
        const uint32_t hash = chain[at - first];
        ElfW(Sym)& symbol = table.symbols[at];
        if ((hash | 1) == (wanted | 1) && symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 &&
            ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && strcmp(table.names + symbol.st_name, name) == 0)
            action(symbol);
        if (hash & 1)
            return;
    }
}

// What the segment that holds the address allows; -1: none does.
int protection_of(const dl_phdr_info& image, uintptr_t address) {
    for (int i = 0; i < image.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = image.dlpi_phdr[i];
        if (header.p_type == PT_LOAD && address - image.dlpi_addr - header.p_vaddr < header.p_memsz)
            return (header.p_flags & PF_R ? PROT_READ : 0) | (header.p_flags & PF_W ? PROT_WRITE : 0) |
                   (header.p_flags & PF_X ? PROT_EXEC : 0);
    }
    return -1;
}

bool write_value(const dl_phdr_info& image, ElfW(Addr) & value, ElfW(Addr) now) {
    const auto at = reinterpret_cast<uintptr_t>(&value), page = static_cast<uintptr_t>(getauxval(AT_PAGESZ));
    const uintptr_t start = at & ~(page - 1);
    const int protection = protection_of(image, at);
    if (protection < 0 || at % sizeof value != 0)
        return false;
    const auto protect = [=](int wanted) {
        return !is_error(system_call(SYS_mprotect, static_cast<long>(start), static_cast<long>(page), wanted));
    };
    if (!(protection & PROT_WRITE) && !protect(protection | PROT_WRITE))
        return false;
    __atomic_store_n(&value, now, __ATOMIC_RELEASE);
    if (!(protection & PROT_WRITE))
        protect(protection);
    return true;
}

} // namespace

bool redirect_function(const dl_phdr_info& image, const char* name, void* to, void** former) {
    const SymbolTable table = read_symbol_table(image);
    if (!table.symbols || !table.names || !table.hash)
        return false;
    ElfW(Addr) value = 0;
    bool is_one = true;
    for_each_version(table, name, [&](const ElfW(Sym) & symbol) {
        is_one = is_one && (value == 0 || value == symbol.st_value);
        value = symbol.st_value;
    });
    if (value == 0 || !is_one)
        return false;
    __atomic_store_n(former, reinterpret_cast<void*>(image.dlpi_addr + value), __ATOMIC_RELEASE);
    bool changed = false;
    for_each_version(table, name, [&](ElfW(Sym) & symbol) {
        changed |= write_value(image, symbol.st_value, reinterpret_cast<ElfW(Addr)>(to) - image.dlpi_addr);
    });
    return changed;
}

} // namespace plumb::shim
