#include "platform/elf/dynamic_section.h"

namespace plumb::shim {
namespace {

// The loader adds the image's base to the addresses in the dynamic section, but not in images that it cannot write.
template <class Pointer> void set_address(const dl_phdr_info& image, ElfW(Addr) value, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(value < image.dlpi_addr ? value + image.dlpi_addr : value);
}

} // namespace

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
        case DT_GNU_HASH: set_address(image, value, section.gnu_hash); break;
        case DT_RELA: set_address(image, value, section.data.first); break;
        case DT_RELASZ: section.data.count = value / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: set_address(image, value, section.calls.first); break;
        case DT_PLTRELSZ: section.calls.count = value / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
    return section;
}

GnuHash read_gnu_hash(const uint32_t* table) {
    const uint32_t bucket_count = table[0], bloom_words = table[2];
    const uint32_t* const buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    return {bucket_count, table[1], buckets, buckets + bucket_count};
}

} // namespace plumb::shim
