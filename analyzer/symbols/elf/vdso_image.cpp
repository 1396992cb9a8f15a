#include "symbols/elf/vdso_image.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::symbols {

std::unique_ptr<ElfImage> open_own_vdso(const std::string& build_id) {
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(getauxval(AT_SYSINFO_EHDR));
    if (!header || build_id.empty() || sizeof(void*) != 8)
        return nullptr;
    // The section headers are its last part.
    const size_t bytes = header->e_shoff + size_t{header->e_shentsize} * header->e_shnum;
    const int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return nullptr;
    std::unique_ptr<ElfImage> image;
    if (write(fd, header, bytes) == static_cast<ssize_t>(bytes))
        image = ElfImage::open("/proc/self/fd/" + std::to_string(fd));
    // The symbols are read later through the same name.
    if (!image || !same_build_id(image->build_id(), build_id)) {
        close(fd);
        return nullptr;
    }
    return image; // fd stays open on purpose, once a process
}

} // namespace plumb::symbols
