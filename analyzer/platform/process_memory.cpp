#include "platform/process_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/uio.h>
#include <unistd.h>

namespace plumb::platform {

namespace {

constexpr size_t kMostPieces = 8;

size_t read_mem_file(uint32_t pid, std::span<const MemoryPiece> pieces) {
    const int fd = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t all = 0;
    int error = 0;
    for (const MemoryPiece& piece : pieces) {
        const ssize_t got = pread(fd, piece.to, piece.bytes, static_cast<off_t>(piece.address));
        error = got < 0 ? errno : 0;
        all += got > 0 ? static_cast<size_t>(got) : 0;
        if (got < 0 || static_cast<size_t>(got) < piece.bytes)
            break;
    }
    close(fd);
    errno = error;
    return all;
}

} // namespace

size_t read_process_memory(uint32_t pid, std::span<const MemoryPiece> pieces) {
    std::array<iovec, kMostPieces> local{}, remote{};
    const size_t count = std::min(pieces.size(), kMostPieces);
    for (size_t piece = 0; piece < count; ++piece) {
        local[piece] = {pieces[piece].to, pieces[piece].bytes};
        remote[piece] = {reinterpret_cast<void*>(pieces[piece].address), pieces[piece].bytes};
    }
    const ssize_t got = process_vm_readv(static_cast<pid_t>(pid), local.data(), count, remote.data(), count, 0);
    if (got >= 0)
        return static_cast<size_t>(got);
    return errno == EPERM || errno == ENOSYS || errno == EACCES ? read_mem_file(pid, pieces.first(count)) : 0;
}

} // namespace plumb::platform
