#include "record/shim_files.h"

#include "platform/task_stat.h"

#include <plumb/trace_format.h>

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::record {

namespace {

bool is_alive(const trace::FileHeader& header) {
    const uint32_t pid = static_cast<uint32_t>(header.pid);
    const auto stat = platform::read_task_stat("/proc", pid, pid);
    return stat && stat->start_ticks == header.pid_start_ticks && stat->state != 'Z' && stat->state != 'X';
}

} // namespace

void trim_shim_files(const std::string& run_directory) {
    std::error_code error;
    char host[sizeof(trace::FileHeader::host)] = "";
    gethostname(host, sizeof host - 1);
    for (const auto& entry : std::filesystem::directory_iterator(run_directory, error)) {
        if (entry.path().extension() != ".plumb")
            continue;
        const int fd = open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        trace::FileHeader header{};
        struct stat info {};
        const bool ours = pread(fd, &header, sizeof header, 0) == sizeof header && fstat(fd, &info) == 0 &&
                          !std::memcmp(header.magic, trace::kMagic, sizeof header.magic) &&
                          header.writer == static_cast<uint32_t>(trace::Writer::process) &&
                          !std::strncmp(header.host, host, sizeof host - 1);
        const uint64_t used = header.header_size + header.next_chunk;
        if (ours && used >= header.header_size && used < static_cast<uint64_t>(info.st_size) && !is_alive(header))
            [[maybe_unused]] const int result = ftruncate(fd, static_cast<off_t>(used)); // else it stays as it is
        close(fd);
    }
}

} // namespace plumb::record
