#include "platform/elf_imports.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {
namespace {

struct Relocations {
    const ElfW(Rela) * first = nullptr;
    size_t bytes = 0;
};

struct DynamicSection {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    Relocations data, calls;
};

// The loader adds the image's base to the addresses in the dynamic section, but not in images that it cannot write.
template <class Pointer> void set_address(const dl_phdr_info& image, ElfW(Addr) value, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(value < image.dlpi_addr ? value + image.dlpi_addr : value);
}

DynamicSection read_dynamic_section(const dl_phdr_info& image) {
    DynamicSection section;
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < image.dlpi_phnum; ++i)
        if (image.dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = reinterpret_cast<const ElfW(Dyn)*>(image.dlpi_addr + image.dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; ++entry) {
        const ElfW(Addr) value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: set_address(image, value, section.symbols); break;
        case DT_STRTAB: set_address(image, value, section.names); break;
        case DT_RELA: set_address(image, value, section.data.first); break;
        case DT_RELASZ: section.data.bytes = value; break;
        case DT_JMPREL: set_address(image, value, section.calls.first); break;
        case DT_PLTRELSZ: section.calls.bytes = value; break;
        default: break;
        }
    }
    return section;
}

} // namespace

bool imports_symbol(const dl_phdr_info& image, bool (*wanted)(const char* name)) {
    const DynamicSection section = read_dynamic_section(image);
    if (!section.symbols || !section.names)
        return false;
    const Relocations both[] = {section.calls, section.data};
    for (const Relocations& relocations : both) {
        const size_t count = relocations.first ? relocations.bytes / sizeof(ElfW(Rela)) : 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t number = ELF64_R_SYM(relocations.first[i].r_info);
            if (number == 0) // most: the image's own addresses
                continue;
            const ElfW(Sym)& symbol = section.symbols[number];
            if (symbol.st_shndx == SHN_UNDEF && wanted(section.names + symbol.st_name))
                return true;
        }
    }
    return false;
}

} // namespace plumb::shim
