#include "record/system/kernel_messages.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr char kKernelLog[] = "/dev/kmsg";
constexpr size_t kRecordBytes = 8192; // the kernel hands out no longer ones

} // namespace

KernelMessages::KernelMessages(std::string path)
    : path_(std::move(path)), log_(open(kKernelLog, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (log_ >= 0 && lseek(log_, 0, SEEK_END) >= 0)
        return;
    why_ = fmt::format("{}: {}", kKernelLog, std::strerror(errno));
    if (log_ >= 0)
        close(log_);
    log_ = -1;
}

KernelMessages::~KernelMessages() {
    if (log_ >= 0)
        close(log_);
    if (file_ >= 0)
        close(file_);
}

void KernelMessages::take() {
    char record[kRecordBytes];
    while (log_ >= 0 && written_ < kMostBytes) {
        const ssize_t bytes = read(log_, record, sizeof record);
        if (bytes > 0)
            write_line(record, static_cast<size_t>(bytes));
        else if (bytes == 0 || (errno != EPIPE && errno != EINTR)) // EPIPE: older ones were lost, the next read goes on
            return;
    }
}

// "6,339,5140900,-;text\n continued\n": level, number, microseconds since boot, flags.
void KernelMessages::write_line(const char* record, size_t bytes) {
    const std::string_view all(record, bytes);
    const size_t text = all.find(';'), first = all.find(','), second = all.find(',', first + 1);
    if (text == std::string_view::npos || first == std::string_view::npos || second == std::string_view::npos || second > text)
        return;
    const unsigned long long us = std::strtoull(std::string(all.substr(second + 1, text - second)).c_str(), nullptr, 10);
    const std::string line =
        fmt::format("[{:5}.{:06}] {}\n", us / 1'000'000, us % 1'000'000, all.substr(text + 1, all.find('\n', text) - text - 1));
    if (file_ < 0)
        file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file_ < 0 || write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        written_ = kMostBytes; // no room there
        return;
    }
    written_ += line.size();
}

} // namespace plumb::record
