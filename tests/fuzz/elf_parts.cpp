#include "elf_parts.h"

#include "feed.h"

#include <elf.h>

namespace plumb::fuzz {

namespace {

struct Kind {
    const char* name;
    uint32_t type;
    uint64_t flags;
    uint64_t entry_bytes;
    const char* link; // the section whose number goes into sh_link
};

constexpr Kind kKinds[] = {
    {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, nullptr},
    {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, nullptr},
    {".symtab", SHT_SYMTAB, 0, sizeof(Elf64_Sym), ".strtab"},
    {".strtab", SHT_STRTAB, 0, 0, nullptr},
    {".debug_info", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_abbrev", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_line", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_str", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1, nullptr},
    {".debug_line_str", SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, 1, nullptr},
    {".debug_aranges", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_ranges", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_rnglists", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_loclists", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_loc", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_addr", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_str_offsets", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_types", SHT_PROGBITS, 0, 0, nullptr},
    {".debug_frame", SHT_PROGBITS, 0, 0, nullptr},
    {".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0, nullptr},
    {".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 0, nullptr},
};

struct Placed {
    const Kind* kind;
    uint64_t offset, bytes, address, name;
};

template <class Value> void put(std::vector<uint8_t>& image, size_t at, const Value& value) {
    std::memcpy(image.data() + at, &value, sizeof value);
}

template <class Value> std::optional<Value> take(Bytes image, uint64_t at) {
    Value value;
    if (at > image.size() || image.size() - at < sizeof value)
        return std::nullopt;
    std::memcpy(&value, image.data() + at, sizeof value);
    return value;
}

Elf64_Ehdr file_header(size_t segments, size_t section_headers, size_t sections) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_phoff = header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(segments);
    header.e_shoff = section_headers;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections);
    header.e_shstrndx = static_cast<uint16_t>(sections - 1);
    return header;
}

} // namespace

std::vector<uint8_t> elf_of_parts(Bytes parts) {
    constexpr size_t kMostSections = 64;
    std::vector<Placed> placed;
    std::vector<uint8_t> image(sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
    std::string names(1, '\0');
    for (Feed feed(parts); !feed.at_end() && placed.size() < kMostSections;) {
        const Kind& kind = kKinds[feed.number<uint8_t>() % std::size(kKinds)];
        const auto address = feed.number<uint32_t>();
        const Bytes content = feed.bytes(feed.number<uint16_t>());
        image.resize((image.size() + 15) / 16 * 16);
        placed.push_back({&kind, image.size(), content.size(), kind.flags & SHF_ALLOC ? address : 0, names.size()});
        image.insert(image.end(), content.begin(), content.end());
        names += kind.name;
        names += '\0';
    }
    const uint64_t own_name = names.size(), names_at = image.size();
    names += ".shstrtab";
    names += '\0';
    image.insert(image.end(), names.begin(), names.end());
    image.resize((image.size() + 7) / 8 * 8);
    const size_t headers = image.size(), sections = placed.size() + 2;
    image.resize(headers + sections * sizeof(Elf64_Shdr));
    put(image, 0, file_header(2, headers, sections));
    const auto number_of = [&](const char* name) -> uint32_t {
        for (size_t i = 0; name && i < placed.size(); ++i)
            if (std::string_view(placed[i].kind->name) == name)
                return static_cast<uint32_t>(i + 1);
        return 0;
    };
    for (size_t i = 0; i < placed.size(); ++i) {
        const Placed& part = placed[i];
        put(image, headers + (i + 1) * sizeof(Elf64_Shdr),
            Elf64_Shdr{static_cast<uint32_t>(part.name), part.kind->type, part.kind->flags, part.address, part.offset, part.bytes,
                       number_of(part.kind->link), 0, 1, part.kind->entry_bytes});
        const bool is_code = part.kind == &kKinds[0];
        if (is_code || part.kind == &kKinds[1])
            put(image, sizeof(Elf64_Ehdr) + (is_code ? 0 : sizeof(Elf64_Phdr)),
                Elf64_Phdr{PT_LOAD, is_code ? uint32_t{PF_R | PF_X} : uint32_t{PF_R | PF_W}, part.offset, part.address, part.address,
                           part.bytes, part.bytes, 1});
    }
    put(image, headers + (sections - 1) * sizeof(Elf64_Shdr),
        Elf64_Shdr{static_cast<uint32_t>(own_name), SHT_STRTAB, 0, 0, names_at, names.size(), 0, 0, 1, 0});
    return image;
}

std::string parts_of_elf(Bytes elf) {
    Food food;
    const auto header = take<Elf64_Ehdr>(elf, 0);
    for (size_t i = 1; header && i < header->e_shnum; ++i) {
        const auto names = take<Elf64_Shdr>(elf, header->e_shoff + header->e_shstrndx * sizeof(Elf64_Shdr));
        const auto section = take<Elf64_Shdr>(elf, header->e_shoff + i * sizeof(Elf64_Shdr));
        if (!names || !section || section->sh_offset + section->sh_size > elf.size() || section->sh_size > UINT16_MAX)
            continue;
        const char* name = reinterpret_cast<const char*>(elf.data()) + names->sh_offset + section->sh_name;
        for (size_t kind = 0; kind < std::size(kKinds); ++kind)
            if (std::string_view(kKinds[kind].name) == name)
                food.number(static_cast<uint8_t>(kind)).number(static_cast<uint32_t>(section->sh_addr))
                    .number(static_cast<uint16_t>(section->sh_size)).bytes(as_text(elf.subspan(section->sh_offset, section->sh_size)));
    }
    return food;
}

Span code_of_elf(Bytes elf) {
    const auto header = take<Elf64_Ehdr>(elf, 0);
    for (size_t i = 0; header && i < std::min<size_t>(header->e_phnum, 64); ++i) {
        const auto segment = take<Elf64_Phdr>(elf, header->e_phoff + i * sizeof(Elf64_Phdr));
        if (segment && segment->p_type == PT_LOAD && segment->p_flags & PF_X)
            return {segment->p_vaddr, segment->p_vaddr + segment->p_filesz};
    }
    return {};
}

} // namespace plumb::fuzz
