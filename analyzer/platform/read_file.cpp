#include "platform/read_file.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
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
