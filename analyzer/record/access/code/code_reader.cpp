#include "record/access/code/code_reader.h"

#include "platform/elf_image.h"
#include "platform/process_memory.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace plumb::record {

namespace {

constexpr uint32_t kMostOpenFiles = 16;
constexpr size_t kMostFiles = 4096; // remembered; far more than a program and its libraries

// Whether the file is still the one that was mapped, as far as the mapping's record tells.
bool is_what_was_mapped(int fd, const std::string& path, const MappedModule& module) {
    struct stat now {};
    if (fstat(fd, &now) != 0 || !S_ISREG(now.st_mode))
        return false;
    if (module.build_id_size > 0) {
        const auto image = platform::read_elf_image(path);
        return image && image->build_id.size() >= module.build_id_size &&
               std::equal(module.build_id, module.build_id + module.build_id_size, image->build_id.begin());
    }
    return module.inode == 0 || now.st_ino == module.inode;
}

} // namespace

CodeReader::~CodeReader() { close_files(); }

void CodeReader::close_files() {
    for (auto& [name, file] : files_)
        if (file.fd >= 0)
            close(std::exchange(file.fd, -1));
    open_ = 0;
}

CodeReader::File& CodeReader::file_of(const Process& process, const MappedModule& module) {
    std::string name = module.path;
    name.append(1, '\0').append(reinterpret_cast<const char*>(module.build_id), module.build_id_size);
    const auto known = files_.find(name);
    if (known != files_.end() && (known->second.fd >= 0 || known->second.number == 0))
        return known->second;
    if (open_ >= kMostOpenFiles || files_.size() >= kMostFiles)
        close_files();
    if (files_.size() >= kMostFiles)
        files_.clear();
    File& file = files_[name];
    if (module.path.empty() || (module.flags & (trace::kModuleDeleted | trace::kModuleAnonymous | trace::kModuleVdso)))
        return file;
    // As the process itself sees it, if it has another root; else, or if it is gone, as we do.
    for (const std::string& path : {module.path, "/proc/" + std::to_string(process.pid) + "/root" + module.path}) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (is_what_was_mapped(fd, path, module)) {
            file.fd = fd;
            ++open_;
            if (file.number == 0)
                file.number = ++numbers_;
            break;
        }
        close(fd);
    }
    return file;
}

uint32_t CodeReader::file_number(const Process& process, const MappedModule& module) {
    return file_of(process, module).number;
}

size_t CodeReader::read(const Process& process, uint64_t start, const MappedModule& module, uint64_t address,
                        uint8_t* to, size_t bytes) {
    if (address < start || address >= module.end)
        return 0;
    bytes = std::min<uint64_t>(bytes, module.end - address);
    if (module.flags & trace::kModuleVdso) { // the same in every process of this word size, and always in memory
        const uint64_t own = getauxval(AT_SYSINFO_EHDR);
        if (!own)
            return 0;
        std::memcpy(to, reinterpret_cast<const void*>(own + (address - start)), bytes);
        return bytes;
    }
    const File& file = file_of(process, module);
    if (file.fd >= 0) {
        const ssize_t got = pread(file.fd, to, bytes, static_cast<off_t>(module.file_offset + (address - start)));
        if (got > 0)
            return static_cast<size_t>(got);
    }
    const platform::MemoryPiece piece{address, to, bytes};
    return platform::read_process_memory(process.pid, {&piece, 1});
}

} // namespace plumb::record
