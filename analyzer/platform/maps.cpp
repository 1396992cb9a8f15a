#include "platform/maps.h"

#include "platform/read_file.h"

#include <charconv>

namespace plumb::platform {

namespace {

bool take_hex(std::string_view& text, uint64_t& number, char separator) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc() || end == text.data() + text.size() || *end != separator)
        return false;
    text.remove_prefix(end - text.data() + 1);
    return true;
}

} // namespace

std::optional<Mapping> parse_mapping(std::string_view line) {
    Mapping mapping;
    uint64_t major = 0, minor = 0;
    if (!take_hex(line, mapping.start, '-') || !take_hex(line, mapping.end, ' '))
        return std::nullopt;
    const std::string_view protection = next_word(line);
    if (protection.size() != 4 || line.empty())
        return std::nullopt;
    mapping.executable = protection[2] == 'x';
    mapping.writable = protection[1] == 'w';
    mapping.shared = protection[3] == 's';
    line.remove_prefix(1);
    if (!take_hex(line, mapping.file_offset, ' ') || !take_hex(line, major, ':') || !take_hex(line, minor, ' '))
        return std::nullopt;
    mapping.device = major << 32 | minor;
    mapping.inode = to_u64(next_word(line));
    const size_t path = line.find_first_not_of(' ');
    if (path != std::string_view::npos)
        mapping.path = line.substr(path);
    return mapping;
}

std::vector<Mapping> read_mappings(const std::string& root, uint32_t pid) {
    std::vector<Mapping> mappings;
    const auto text = read_file(root + "/" + std::to_string(pid) + "/maps", 64u << 20);
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty())
        if (auto mapping = parse_mapping(next_line(rest)))
            mappings.push_back(std::move(*mapping));
    return mappings;
}

std::vector<Mapping> read_executable_mappings(const std::string& root, uint32_t pid) {
    std::vector<Mapping> mappings = read_mappings(root, pid);
    std::erase_if(mappings, [](const Mapping& mapping) { return !mapping.executable; });
    return mappings;
}

} // namespace plumb::platform
