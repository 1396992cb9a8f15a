#include "record/run/abandoned_files.h"

#include <plumb/trace_format.h>

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::record {

namespace {

void free_space_of(int fd) {
    trace::FileHeader header{};
    struct stat info {};
    if (pread(fd, &header, sizeof header, 0) != sizeof header || std::memcmp(header.magic, trace::kMagic, sizeof header.magic) ||
        header.writer != static_cast<uint32_t>(trace::Writer::process) || (header.flags & trace::kClosed) ||
        fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    const uint64_t used = header.header_size + header.next_chunk;
    if (used < header.header_size || used >= static_cast<uint64_t>(info.st_size))
        return;
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0) // somebody uses it
        return;
    [[maybe_unused]] const int result = ftruncate(fd, static_cast<off_t>(used));
    fcntl(fd, F_SETLEASE, F_UNLCK);
}

} // namespace

void free_abandoned_space(const std::string& directory) {
    const auto former = std::signal(SIGIO, SIG_IGN); // whoever wants to open a leased file waits, and we hear of it
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("process-") || !name.ends_with(".plumb"))
            continue;
        const int fd = open(entry.path().c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            continue;
        free_space_of(fd);
        close(fd);
    }
    std::signal(SIGIO, former);
}

} // namespace plumb::record
