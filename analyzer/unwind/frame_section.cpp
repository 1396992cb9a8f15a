#include "unwind/frame_section.h"

#include <elf.h>
#include <link.h>
#include <optional>
#include <string_view>
#include <zlib.h>

namespace plumb::unwind {

namespace {

constexpr uint64_t kMostFrameBytes = uint64_t{256} << 20; // far above any program's
constexpr uint64_t kMostNameBytes = uint64_t{1} << 20;    // of all sections
constexpr uint64_t kMostCompression = 64;                 // call-frame information becomes 3 to 8 times smaller

std::optional<std::vector<unsigned char>> contents_of(const ElfSource& source, const ElfW(Shdr)& section) {
    if (section.sh_type == SHT_NOBITS || section.sh_size > kMostFrameBytes || !source.holds(section.sh_offset, section.sh_size))
        return std::nullopt;
    std::vector<unsigned char> stored(section.sh_size);
    if (!source.read(section.sh_offset, stored.data(), stored.size()))
        return std::nullopt;
    if (!(section.sh_flags & SHF_COMPRESSED))
        return stored;
    ElfW(Chdr) header;
    if (stored.size() < sizeof header)
        return std::nullopt;
    std::memcpy(&header, stored.data(), sizeof header);
    if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > kMostFrameBytes || header.ch_size / kMostCompression > stored.size())
        return std::nullopt;
    std::vector<unsigned char> bytes(header.ch_size);
    uLongf size = bytes.size();
    if (uncompress(bytes.data(), &size, stored.data() + sizeof header, stored.size() - sizeof header) != Z_OK ||
        size != bytes.size())
        return std::nullopt;
    return bytes;
}

} // namespace

std::vector<FrameSection> read_frame_sections(const ElfSource& source, bool eh_frame_too) {
    std::vector<FrameSection> found;
    ElfW(Ehdr) elf;
    if (!source.read(0, &elf, sizeof elf) || elf.e_shentsize != sizeof(ElfW(Shdr)) || elf.e_shstrndx >= elf.e_shnum ||
        !source.holds(elf.e_shoff, uint64_t{elf.e_shnum} * sizeof(ElfW(Shdr))))
        return found;
    std::vector<ElfW(Shdr)> sections(elf.e_shnum);
    if (!source.read(elf.e_shoff, sections.data(), sections.size() * sizeof(ElfW(Shdr))))
        return found;
    const ElfW(Shdr)& name_section = sections[elf.e_shstrndx];
    if (name_section.sh_size > kMostNameBytes || !source.holds(name_section.sh_offset, name_section.sh_size))
        return found;
    std::vector<char> names(name_section.sh_size);
    if (!source.read(name_section.sh_offset, names.data(), names.size()))
        return found;
    for (const ElfW(Shdr)& section : sections) {
        if (section.sh_name >= names.size())
            continue;
        const char* const begin = names.data() + section.sh_name;
        const std::string_view name(begin, strnlen(begin, names.size() - section.sh_name));
        const bool is_debug = name == ".debug_frame";
        if (!is_debug && !(eh_frame_too && name == ".eh_frame"))
            continue;
        if (auto bytes = contents_of(source, section); bytes && !bytes->empty())
            found.push_back({std::move(*bytes), is_debug ? 0 : section.sh_addr, is_debug});
    }
    return found;
}

} // namespace plumb::unwind
