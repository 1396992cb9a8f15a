#include "platform/elf/function_redirect.h"

#include "platform/elf/dynamic_section.h"
#include "platform/os/system_call.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace plumb::shim {
namespace {

uint32_t hash_of(const char* name) {
    uint32_t hash = 5381;
    for (; *name; ++name)
        hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
}

// The image's functions of this name, one for each version.
template <class Action> void for_each_version(const DynamicSection& table, const char* name, Action action) {
    const GnuHash known = read_gnu_hash(table.gnu_hash);
    const uint32_t wanted = hash_of(name);
    uint32_t at = known.bucket_count ? known.buckets[wanted % known.bucket_count] : 0;
    if (at < known.first)
        return;
    for (;; ++at) {
        const uint32_t hash = known.hashes[at - known.first];
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
    const DynamicSection table = read_dynamic_section(image);
    if (!table.symbols || !table.names || !table.gnu_hash)
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
