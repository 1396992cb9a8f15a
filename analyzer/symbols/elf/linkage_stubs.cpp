#include "symbols/elf/linkage_stubs.h"

#include <algorithm>
#include <cstring>
#include <gelf.h>
#include <unordered_map>

namespace plumb::symbols {

namespace {

struct Target {
    std::string symbol;
    uint64_t resolver = 0;
};

// What the dynamic linker will store where: by address of the slot.
std::unordered_map<uint64_t, Target> read_slots(Elf* elf) {
    std::unordered_map<uint64_t, Target> slots;
    for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC) ||
            header.sh_entsize == 0)
            continue;
        Elf_Data* relocations = elf_getdata(scn, nullptr);
        Elf_Scn* symbols_section = elf_getscn(elf, header.sh_link);
        GElf_Shdr symbols_header{};
        Elf_Data* symbols = symbols_section && gelf_getshdr(symbols_section, &symbols_header)
                                ? elf_getdata(symbols_section, nullptr)
                                : nullptr;
        for (size_t i = 0; relocations && i < relocations->d_size / header.sh_entsize; ++i) {
            GElf_Rela relocation;
            if (!gelf_getrela(relocations, static_cast<int>(i), &relocation))
                break;
            const auto type = GELF_R_TYPE(relocation.r_info);
            if (type == R_X86_64_IRELATIVE) {
                slots[relocation.r_offset] = {"", static_cast<uint64_t>(relocation.r_addend)};
            } else if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) {
                GElf_Sym symbol;
                const char* name =
                    symbols && gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol)
                        ? elf_strptr(elf, symbols_header.sh_link, symbol.st_name)
                        : nullptr;
                if (name && *name)
                    slots[relocation.r_offset] = {name, 0};
            }
        }
    }
    return slots;
}

} // namespace

std::vector<LinkageStub> read_linkage_stubs(const ElfImage& image) {
    std::vector<LinkageStub> stubs;
    if (image.machine() != EM_X86_64)
        return stubs;
    Elf* elf = image.elf();
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return stubs;
    const std::unordered_map<uint64_t, Target> slots = read_slots(elf);
    if (slots.empty())
        return stubs;
    for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
        GElf_Shdr header;
        const char* name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
        if (!name || header.sh_type != SHT_PROGBITS ||
            (std::strcmp(name, ".plt") && std::strcmp(name, ".plt.sec") && std::strcmp(name, ".plt.got") &&
             std::strcmp(name, ".iplt")))
            continue;
        const Elf_Data* data = elf_rawdata(scn, nullptr);
        if (!data || !data->d_buf)
            continue;
        const auto* code = static_cast<const unsigned char*>(data->d_buf);
        // Stubs are 16 bytes each; in .plt.got without IBT, and in static programs (which leave sh_entsize 0), 8.
        const uint64_t size = header.sh_entsize ? header.sh_entsize : header.sh_addralign;
        const uint64_t step = size == 8 ? 8 : 16;
        for (uint64_t entry = 0; entry + step <= data->d_size; entry += step)
            for (uint64_t at = entry; at + 6 <= entry + step; ++at) {
                if (code[at] != 0xff || code[at + 1] != 0x25) // jmp *displacement(%rip)
                    continue;
                int32_t displacement = 0;
                std::memcpy(&displacement, code + at + 2, sizeof displacement);
                const uint64_t slot =
                    header.sh_addr + at + 6 + static_cast<uint64_t>(static_cast<int64_t>(displacement));
                if (auto target = slots.find(slot); target != slots.end())
                    stubs.push_back({header.sh_addr + entry, header.sh_addr + entry + step,
                                     target->second.symbol, target->second.resolver});
                break;
            }
    }
    std::sort(stubs.begin(), stubs.end(),
              [](const LinkageStub& a, const LinkageStub& b) { return a.begin < b.begin; });
    return stubs;
}

} // namespace plumb::symbols
