#include "symbols/elf/elf_image.h"

#include "platform/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elfutils/libdwelf.h>
#include <climits>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::symbols {

namespace {

constexpr size_t kRecordedIdDigits = 40;
constexpr size_t kLongestBuildId = 64; // bytes: SHA-512

std::string hex(const void* bytes, size_t size) {
    static const char kDigits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < size; ++i) {
        const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

} // namespace

bool same_build_id(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty())
        return false;
    if (a.size() >= kRecordedIdDigits && b.size() >= kRecordedIdDigits)
        return a.compare(0, kRecordedIdDigits, b, 0, kRecordedIdDigits) == 0;
    return a == b;
}

std::unique_ptr<ElfImage> ElfImage::open(const std::string& path, std::string* why) {
    elf_version(EV_CURRENT);
    std::unique_ptr<ElfImage> image(new ElfImage);
    image->path_ = path;
    image->fd_ = platform::open_foreign_file(path);
    struct stat status{};
    if (image->fd_ < 0 || fstat(image->fd_, &status) != 0) {
        if (why)
            *why = errno == EINVAL ? "not a regular file" : errno == EFBIG ? "mostly a hole" : std::strerror(errno);
        return nullptr;
    }
    image->file_bytes_ = static_cast<uint64_t>(status.st_size);
    image->modified_ns_ = static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                          static_cast<uint64_t>(status.st_mtim.tv_nsec);
    image->elf_ = elf_begin(image->fd_, ELF_C_READ_MMAP_PRIVATE, nullptr);
    if (!image->elf_ || elf_kind(image->elf_) != ELF_K_ELF) {
        if (why)
            *why = "not an ELF file";
        return nullptr;
    }
    image->read_headers();
    return image;
}

ElfImage::~ElfImage() {
    if (elf_)
        elf_end(elf_);
    if (fd_ >= 0)
        close(fd_);
}

void ElfImage::read_headers() {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header))
        machine_ = header.e_machine;

    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) == 0)
        for (size_t i = 0; i < count; ++i) {
            GElf_Phdr segment;
            if (gelf_getphdr(elf_, static_cast<int>(i), &segment) && segment.p_type == PT_LOAD)
                segments_.push_back(
                    {segment.p_offset, segment.p_vaddr, segment.p_filesz, (segment.p_flags & PF_X) != 0,
                     segment.p_memsz});
        }

    size_t names = 0;
    const bool named = elf_getshdrstrndx(elf_, &names) == 0;
    for (Elf_Scn* scn = nullptr; named && (scn = elf_nextscn(elf_, scn)) != nullptr;) {
        GElf_Shdr section;
        const char* name = gelf_getshdr(scn, &section) ? elf_strptr(elf_, names, section.sh_name) : nullptr;
        if (!name)
            continue;
        if (section.sh_flags & SHF_ALLOC)
            sections_.push_back(
                {name, section.sh_addr, section.sh_size, (section.sh_flags & SHF_EXECINSTR) != 0});
        const bool has_content = section.sh_type != SHT_NOBITS && section.sh_size > 0;
        if (has_content && (!std::strcmp(name, ".debug_info") || !std::strcmp(name, ".zdebug_info")))
            has_debug_info_ = true;
        if (has_content && section.sh_type == SHT_SYMTAB)
            has_symbol_table_ = true;
        if (has_content && !std::strcmp(name, ".gnu_debugaltlink")) {
            const Elf_Data* data = elf_rawdata(scn, nullptr);
            const char* text = data ? static_cast<const char*>(data->d_buf) : nullptr;
            const char* end = text ? static_cast<const char*>(std::memchr(text, 0, data->d_size)) : nullptr;
            const size_t id_bytes = end ? data->d_size - static_cast<size_t>(end + 1 - text) : 0;
            if (end && end - text < PATH_MAX && id_bytes <= kLongestBuildId) {
                alternate_link_ = text;
                alternate_build_id_ = hex(end + 1, id_bytes);
            }
        }
    }

    const void* id = nullptr;
    const ssize_t id_bytes = dwelf_elf_gnu_build_id(elf_, &id);
    if (id_bytes > 0 && static_cast<size_t>(id_bytes) <= kLongestBuildId)
        build_id_ = hex(id, static_cast<size_t>(id_bytes));
    GElf_Word crc = 0;
    if (const char* link = dwelf_elf_gnu_debuglink(elf_, &crc)) {
        debug_link_ = link;
        debug_link_crc_ = crc;
    }
}

std::vector<uint8_t> ElfImage::code_at(uint64_t address, uint64_t bytes) const {
    for (const Segment& segment : segments_) {
        if (!segment.executable || address < segment.address || address - segment.address >= segment.file_bytes)
            continue;
        const uint64_t inside = address - segment.address;
        const uint64_t offset = segment.file_offset + inside; // the header says what it likes
        if (offset < inside || offset >= file_bytes_)
            return {};
        std::vector<uint8_t> code(std::min({bytes, segment.file_bytes - inside, file_bytes_ - offset}));
        const ssize_t got = pread(fd_, code.data(), code.size(), static_cast<off_t>(offset));
        code.resize(got > 0 ? static_cast<size_t>(got) : 0);
        return code;
    }
    return {};
}

std::optional<uint64_t> ElfImage::address_of(uint64_t file_offset) const {
    constexpr uint64_t kPage = 4096;
    const Segment* best = nullptr;
    for (const Segment& segment : segments_) {
        if (!segment.executable)
            continue;
        if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.file_bytes)
            return segment.address + (file_offset - segment.file_offset);
        // Whole pages are mapped: what lies beside the segment on its first and last page is there, too.
        const uint64_t first = segment.file_offset & ~(kPage - 1);
        const uint64_t last = (segment.file_offset + segment.file_bytes + kPage - 1) & ~(kPage - 1);
        if (file_offset >= first && file_offset < last)
            best = &segment;
    }
    if (!best)
        return std::nullopt;
    return best->address + file_offset - best->file_offset; // may wrap below the segment: meant
}

} // namespace plumb::symbols
