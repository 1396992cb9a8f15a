#include "module_files.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::witness {

namespace {

void open_file(Module& module) {
    const int file = open(module.path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        void* const map = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
        if (map != MAP_FAILED) {
            module.data = static_cast<const unsigned char*>(map);
            module.size = static_cast<size_t>(status.st_size);
        }
    }
    if (file >= 0)
        close(file);
}

// The kernel maps the same image into every process.
void open_vdso(Module& module) {
    module.data = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));
    if (!module.data)
        return;
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(module.data);
    module.size = elf->e_shoff + uint64_t{elf->e_shnum} * elf->e_shentsize; // its section headers are its end
}

} // namespace

ModuleFiles::ModuleFiles(const Program& program) : program_(program) {
    for (const auto& [start, mapping] : program.mappings)
        if (!mapping.path.empty())
            add(mapping);
    std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) { return a.start < b.start; });
    for (Module& module : modules_) {
        uint64_t first = 0, count = 0;
        if (!module.table || !word(module.table, first) || !word(module.table + 8, count)) {
            module.table = 0;
            continue;
        }
        // What every linker writes: pointer pcrel sdata4, count udata4, entries datarel sdata4.
        const bool is_usual = (first & 0xff) == 1 && (first >> 16 & 0xff) == 0x03 && (first >> 24 & 0xff) == 0x3b;
        module.table = is_usual ? module.table : 0;
        module.rows = static_cast<uint32_t>(count);
    }
}

ModuleFiles::~ModuleFiles() {
    for (const Module& module : modules_)
        if (module.data && module.path != "[vdso]")
            munmap(const_cast<unsigned char*>(module.data), module.size);
}

// One module for each place of a file: several mappings are one where their addresses are shifted alike.
void ModuleFiles::add(const Mapping& mapping) {
    Module module;
    module.path = mapping.path;
    module.path == "[vdso]" ? open_vdso(module) : open_file(module);
    const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(module.data);
    const bool is_elf = module.size >= sizeof *elf && std::memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
                        elf->e_phoff + uint64_t{elf->e_phnum} * sizeof(Elf64_Phdr) <= module.size;
    const auto* headers = is_elf ? reinterpret_cast<const Elf64_Phdr*>(module.data + elf->e_phoff) : nullptr;
    const int count = is_elf ? elf->e_phnum : 0;
    bool is_placed = false;
    for (int i = 0; i < count && !is_placed; ++i)
        if (headers[i].p_type == PT_LOAD && mapping.file_offset + 4096 > headers[i].p_offset &&
            mapping.file_offset < headers[i].p_offset + headers[i].p_filesz && (headers[i].p_flags & PF_X)) {
            module.bias = mapping.start - mapping.file_offset + headers[i].p_offset - headers[i].p_vaddr;
            is_placed = true;
        }
    const bool is_known = std::any_of(modules_.begin(), modules_.end(), [&](const Module& other) {
        return other.path == module.path && other.bias == module.bias;
    });
    if (!is_placed || is_known) {
        if (module.data && module.path != "[vdso]")
            munmap(const_cast<unsigned char*>(module.data), module.size);
        return;
    }
    module.begin = UINT64_MAX;
    for (int i = 0; i < count; ++i) {
        const Elf64_Phdr& header = headers[i];
        const uint64_t start = module.bias + header.p_vaddr;
        if (header.p_type == PT_GNU_EH_FRAME)
            module.table = start;
        if (header.p_type != PT_LOAD || header.p_offset + header.p_filesz > module.size)
            continue;
        segments_.push_back({start, start + header.p_filesz, module.data + header.p_offset, modules_.size()});
        module.begin = std::min(module.begin, start);
        module.end = std::max(module.end, start + header.p_memsz);
    }
    modules_.push_back(std::move(module));
}

const Module* ModuleFiles::at(uint64_t address) const {
    auto behind = std::upper_bound(segments_.begin(), segments_.end(), address,
                                   [](uint64_t place, const Segment& segment) { return place < segment.start; });
    return behind != segments_.begin() && address < behind[-1].end ? &modules_[behind[-1].module] : nullptr;
}

bool ModuleFiles::is_of_two(uint64_t address) const {
    const auto holds = [address](const auto& range) { return address >= range.begin && address < range.end; };
    return std::any_of(program_.replaced.begin(), program_.replaced.end(), holds) ||
           std::count_if(modules_.begin(), modules_.end(), holds) > 1;
}

bool ModuleFiles::word(uint64_t address, uint64_t& value) const {
    auto behind = std::upper_bound(segments_.begin(), segments_.end(), address,
                                   [](uint64_t place, const Segment& segment) { return place < segment.start; });
    if (behind == segments_.begin() || address >= behind[-1].end || behind[-1].end - address < sizeof value)
        return false;
    std::memcpy(&value, behind[-1].data + (address - behind[-1].start), sizeof value);
    return true;
}

} // namespace plumb::witness
