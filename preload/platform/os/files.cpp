#include "platform/os/files.h"

#include "platform/os/system_call.h"

#include <errno.h>
#include <sys/resource.h>

namespace plumb::shim {

int open_file(const char* path, int flags, mode_t mode) {
    return static_cast<int>(system_call(SYS_openat, AT_FDCWD, word(path), flags | O_CLOEXEC, mode));
}

void close_file(int descriptor) { system_call(SYS_close, descriptor); }

long read_file(int descriptor, void* to, size_t bytes) {
    long got;
    do {
        got = system_call(SYS_read, descriptor, word(to), static_cast<long>(bytes));
    } while (got == -EINTR);
    return got;
}

int status_of_file(int descriptor, struct stat* status) {
    return static_cast<int>(system_call(SYS_newfstatat, descriptor, word(""), word(status), AT_EMPTY_PATH));
}

int status_of_path(const char* path, struct stat* status) {
    return static_cast<int>(system_call(SYS_newfstatat, AT_FDCWD, word(path), word(status), 0));
}

long read_link(const char* path, char* to, size_t bytes) {
    const long length = system_call(SYS_readlinkat, AT_FDCWD, word(path), word(to), static_cast<long>(bytes - 1));
    to[length < 0 ? 0 : length] = '\0';
    return length;
}

int remove_file(const char* path) {
    return static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, word(path), 0));
}

long read_whole_file(const char* path, char* to, size_t bytes) {
    to[0] = '\0';
    const int descriptor = open_file(path, O_RDONLY);
    if (descriptor < 0)
        return descriptor;
    size_t length = 0;
    long got = 0;
    while (length + 1 < bytes && (got = read_file(descriptor, to + length, bytes - 1 - length)) > 0)
        length += static_cast<size_t>(got);
    close_file(descriptor);
    to[length] = '\0';
    return got < 0 && length == 0 ? got : static_cast<long>(length);
}

int reserve_blocks(int descriptor, uint64_t offset, uint64_t bytes) {
    rlimit limit = {};
    if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, word(&limit)) == 0 && offset + bytes > limit.rlim_cur)
        return -EFBIG; // trying would raise SIGXFSZ
    long result;
    do {
        result = system_call(SYS_fallocate, descriptor, 0, static_cast<long>(offset), static_cast<long>(bytes));
    } while (result == -EINTR);
    if (result != -EOPNOTSUPP && result != -ENOSYS)
        return static_cast<int>(result);
    static const char zeros[4096] = {};
    while (bytes > 0) {
        const size_t part = bytes < sizeof zeros ? bytes : sizeof zeros;
        const long written = system_call(SYS_pwrite64, descriptor, word(zeros), static_cast<long>(part),
                                         static_cast<long>(offset));
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? static_cast<int>(written) : -ENOSPC;
        offset += static_cast<uint64_t>(written);
        bytes -= static_cast<uint64_t>(written);
    }
    return 0;
}

} // namespace plumb::shim
