#include "platform/read_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::platform {

std::optional<std::string> read_file(const std::string& path, size_t limit) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    std::string text;
    char buffer[8192];
    ssize_t got = 0;
    while (text.size() < limit && (got = read(fd, buffer, std::min(sizeof buffer, limit - text.size()))) > 0)
        text.append(buffer, got);
    close(fd); // errno of a failed close of a file read only says nothing
    if (got < 0)
        return std::nullopt;
    return text;
}

namespace {

// Compression stores a file in a fraction of its size; a small file of holes costs nobody much.
bool is_mostly_hole(int fd, const struct stat& status) {
    constexpr uint64_t kBlockBytes = 512; // the unit of st_blocks
    constexpr uint64_t kSmall = 4 << 20, kMostCompressed = 16;
    const auto size = static_cast<uint64_t>(status.st_size);
    if (size <= kSmall + kMostCompressed * kBlockBytes * static_cast<uint64_t>(status.st_blocks))
        return false;
    // Some network file systems count no blocks at all, and know no holes.
    return status.st_blocks != 0 || (lseek(fd, 0, SEEK_DATA) < 0 && errno == ENXIO);
}

} // namespace

int open_foreign_file(const std::string& path, bool follow) {
    struct stat status{};
    if ((follow ? stat(path.c_str(), &status) : lstat(path.c_str(), &status)) != 0)
        return -1;
    errno = S_ISLNK(status.st_mode) ? ELOOP : EINVAL;
    if (!S_ISREG(status.st_mode)) // opening a device may do something to it
        return -1;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0)
        return -1;
    int reason = 0;
    if (fstat(fd, &status) != 0)
        reason = errno;
    else if (!S_ISREG(status.st_mode)) // another one by now
        reason = EINVAL;
    else if (is_mostly_hole(fd, status))
        reason = EFBIG;
    if (reason == 0 && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    errno = reason;
    return -1;
}

std::optional<int64_t> read_number(const std::string& path) {
    const std::optional<std::string> text = read_file(path, 4096);
    if (!text)
        return std::nullopt;
    std::string_view rest = *text;
    const std::string_view word = next_word(rest);
    int64_t number = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

std::string_view next_word(std::string_view& text) {
    const size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) {
        text = {};
        return {};
    }
    size_t end = text.find_first_of(" \t\n", begin);
    if (end == std::string_view::npos)
        end = text.size();
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(end);
    return word;
}

std::string_view next_line(std::string_view& text) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

uint64_t to_u64(std::string_view word) {
    uint64_t number = 0;
    std::from_chars(word.data(), word.data() + word.size(), number);
    return number;
}

} // namespace plumb::platform
