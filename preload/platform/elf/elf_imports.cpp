#include "platform/elf/elf_imports.h"

#include "platform/elf/dynamic_section.h"

#include <initializer_list>

namespace plumb::shim {

bool imports_symbol(const dl_phdr_info& image, bool (*wanted)(const char* name)) {
    const DynamicSection section = read_dynamic_section(image);
    if (!section.symbols || !section.names)
        return false;
    for (const DynamicSection::Relocations& relocations : {section.calls, section.data}) {
        const size_t count = relocations.first ? relocations.count : 0;
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
