#include "platform/elf_image.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

constexpr size_t kHeaderLimit = 64u << 10; // of program headers, of one note segment, of an interpreter path

// Reads exactly `bytes` at `offset`.
bool read_at(int fd, void* into, size_t bytes, uint64_t offset) {
    return bytes == 0 || pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

void find_build_id(const std::vector<char>& notes, std::vector<uint8_t>& build_id) {
    size_t at = 0;
    while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
        Elf64_Nhdr note; // the same for both word sizes
        std::memcpy(&note, notes.data() + at, sizeof note);
        const size_t name = at + sizeof note;
        const size_t content = name + ((size_t{note.n_namesz} + 3) & ~size_t{3});
        const size_t end = content + ((size_t{note.n_descsz} + 3) & ~size_t{3});
        if (end > notes.size())
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(notes.data() + name, "GNU", 4)) {
            build_id.assign(notes.data() + content, notes.data() + content + note.n_descsz);
            return;
        }
        at = end;
    }
}

template <class Header, class Segment> bool read_segments(int fd, ElfImage& image) {
    Header header;
    if (!read_at(fd, &header, sizeof header, 0) || header.e_phentsize != sizeof(Segment))
        return false;
    image.machine = header.e_machine;
    image.type = header.e_type;
    std::vector<Segment> segments(std::min<size_t>(header.e_phnum, kHeaderLimit / sizeof(Segment)));
    if (!read_at(fd, segments.data(), segments.size() * sizeof(Segment), header.e_phoff))
        return false;
    for (const Segment& segment : segments) {
        if ((segment.p_type != PT_INTERP && segment.p_type != PT_NOTE) || segment.p_filesz == 0 || segment.p_filesz > kHeaderLimit)
            continue;
        std::vector<char> content(segment.p_filesz);
        if (!read_at(fd, content.data(), content.size(), segment.p_offset))
            continue;
        if (segment.p_type == PT_INTERP) {
            image.has_interpreter = true;
            image.interpreter.assign(content.data(), strnlen(content.data(), content.size()));
        } else if (image.build_id.empty()) {
            find_build_id(content, image.build_id);
        }
    }
    return true;
}

} // namespace

bool ElfImage::is_native() const {
#if defined(__x86_64__)
    return is_64_bit && machine == EM_X86_64;
#elif defined(__aarch64__)
    return is_64_bit && machine == EM_AARCH64;
#else
    return is_64_bit == (sizeof(void*) == 8);
#endif
}

std::optional<ElfImage> read_elf_image(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return std::nullopt;
    ElfImage image;
    unsigned char ident[EI_NIDENT];
    bool ok = read_at(fd, ident, sizeof ident, 0) && !std::memcmp(ident, ELFMAG, SELFMAG) &&
              ident[EI_DATA] == ELFDATA2LSB;
    if (ok) {
        image.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
        ok = image.is_64_bit ? read_segments<Elf64_Ehdr, Elf64_Phdr>(fd, image)
                             : read_segments<Elf32_Ehdr, Elf32_Phdr>(fd, image);
    }
    close(fd);
    return ok ? std::optional(image) : std::nullopt;
}

} // namespace plumb::platform
