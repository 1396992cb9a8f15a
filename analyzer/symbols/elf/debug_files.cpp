#include "symbols/elf/debug_files.h"

#include "symbols/elf/debuginfod.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace plumb::symbols {

namespace {

std::string directory_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

// CRC-32 as .gnu_debuglink defines it (reflected 0xedb88320). 0 when the file cannot be read: no valid link has it
// by any chance worth caring for.
uint32_t file_crc(const std::string& path, uint64_t bytes) {
    static const std::array<uint32_t, 256> kTable = [] {
        std::array<uint32_t, 256> table{};
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = value & 1 ? 0xedb88320u ^ (value >> 1) : value >> 1;
            table[i] = value;
        }
        return table;
    }();
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || bytes == 0)
        return 0;
    uint32_t crc = ~0u;
    std::array<unsigned char, 65536> buffer;
    for (ssize_t got; (got = read(fd, buffer.data(), buffer.size())) > 0;)
        for (ssize_t i = 0; i < got; ++i)
            crc = kTable[(crc ^ buffer[static_cast<size_t>(i)]) & 0xff] ^ (crc >> 8);
    close(fd);
    return ~crc;
}

std::unique_ptr<ElfImage> open_if_same_id(const std::string& path, const std::string& build_id) {
    std::unique_ptr<ElfImage> file = ElfImage::open(path);
    return file && same_build_id(file->build_id(), build_id) ? std::move(file) : nullptr;
}

std::unique_ptr<ElfImage> find_by_id(const DebugFileSearch& search, const std::string& build_id) {
    if (build_id.size() < 4)
        return nullptr;
    const std::string tail = "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
    for (const std::string& directory : search.directories)
        if (auto file = open_if_same_id(search.sysroot + directory + tail, build_id))
            return file;
    return nullptr;
}

std::unique_ptr<ElfImage> find_by_link(const DebugFileSearch& search, const ElfImage& image) {
    const std::string& link = image.debug_link();
    if (link.empty() && image.build_id().empty())
        return nullptr;
    const std::string name = link.empty() ? name_of(image.path()) + ".debug" : name_of(link);
    const std::string directory = directory_of(image.path());
    std::vector<std::string> candidates{directory + "/" + name, directory + "/.debug/" + name};
    // Below the debug directories the path is the one inside the sysroot.
    const std::string inside =
        directory.starts_with(search.sysroot) ? directory.substr(search.sysroot.size()) : directory;
    for (const std::string& debug_directory : search.directories)
        candidates.push_back(search.sysroot + debug_directory + (inside.starts_with('/') ? "" : "/") + inside +
                             "/" + name);
    for (const std::string& candidate : candidates) {
        if (candidate == image.path())
            continue;
        std::unique_ptr<ElfImage> file = ElfImage::open(candidate);
        if (!file || !file->has_debug_info())
            continue;
        const bool same = !image.build_id().empty() && !file->build_id().empty()
                              ? same_build_id(file->build_id(), image.build_id())
                              : !link.empty() &&
                                    file_crc(candidate, file->file_bytes()) == image.debug_link_crc();
        if (same)
            return file;
    }
    return nullptr;
}

} // namespace

std::unique_ptr<ElfImage> find_debug_file(const DebugFileSearch& search, const ElfImage* image,
                                          const std::string& build_id) {
    if (auto file = find_by_id(search, build_id))
        return file;
    if (image)
        if (auto file = find_by_link(search, *image))
            return file;
    if (search.debuginfod && !build_id.empty())
        if (const std::string path = fetch_debug_file(build_id); !path.empty())
            return open_if_same_id(path, build_id);
    return nullptr;
}

std::string find_alternate_file(const DebugFileSearch& search, const ElfImage& of) {
    const std::string& link = of.alternate_link();
    if (link.empty())
        return {};
    const std::string path =
        link.starts_with('/') ? search.sysroot + link : directory_of(of.path()) + "/" + link;
    if (auto file = open_if_same_id(path, of.alternate_build_id()))
        return file->path();
    if (auto file = find_by_id(search, of.alternate_build_id()))
        return file->path();
    return search.debuginfod ? fetch_debug_file(of.alternate_build_id()) : std::string();
}

} // namespace plumb::symbols
