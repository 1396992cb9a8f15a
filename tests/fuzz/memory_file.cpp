#include "memory_file.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

namespace plumb::fuzz {

MemoryFile::MemoryFile() : fd_(memfd_create("fuzzed", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
    require(fd_ >= 0);
}

MemoryFile::~MemoryFile() { close(fd_); }

void MemoryFile::fill(Bytes content) {
    require(ftruncate(fd_, 0) == 0); // what an earlier input left behind must not be there
    require(pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
}

int MemoryFile::descriptor_at_start() const { return open(path_.c_str(), O_RDONLY | O_CLOEXEC); }

const std::string& scratch_folder() {
    struct Folder {
        Folder() {
            std::string name = std::filesystem::exists("/dev/shm") ? "/dev/shm/plumb-fuzz-XXXXXX" : "/tmp/plumb-fuzz-XXXXXX";
            require(mkdtemp(name.data()) != nullptr);
            path = name;
        }
        ~Folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
        std::string path;
    };
    static const Folder folder;
    return folder.path;
}

} // namespace plumb::fuzz
