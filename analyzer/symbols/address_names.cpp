#include "symbols/address_names.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <utility>

namespace plumb::symbols {

namespace {

constexpr size_t kMaxEntries = 4'000'000; // a map file that grows without end must not fill the memory

// The hexadecimal number at the front of `line`, which is shortened past it and one blank.
std::optional<uint64_t> take_hex(std::string_view& line) {
    if (line.starts_with("0x"))
        line.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc() || end == line.data() + line.size() || *end != ' ')
        return std::nullopt;
    line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
    return value;
}

} // namespace

AddressNames AddressNames::from_kallsyms(const std::string& path) {
    AddressNames names;
    std::ifstream file(path);
    for (std::string text; names.ranges_.size() < kMaxEntries && std::getline(file, text);) {
        std::string_view line = text;
        const std::optional<uint64_t> address = take_hex(line);
        if (!address || *address == 0 || line.size() < 3 || line[1] != ' ' ||
            (line[0] != 't' && line[0] != 'T' && line[0] != 'w' && line[0] != 'W'))
            continue;
        line.remove_prefix(2);
        names.ranges_.push_back({*address, UINT64_MAX, std::string(line.substr(0, line.find('\t')))});
    }
    std::stable_sort(names.ranges_.begin(), names.ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
    for (size_t i = 0; i + 1 < names.ranges_.size(); ++i)
        names.ranges_[i].end = names.ranges_[i + 1].begin;
    return names;
}

AddressNames AddressNames::from_perf_map(const std::string& path) {
    AddressNames names;
    std::ifstream file(path);
    for (std::string text; names.ranges_.size() < kMaxEntries && std::getline(file, text);) {
        std::string_view line = text;
        const std::optional<uint64_t> begin = take_hex(line);
        const std::optional<uint64_t> size = begin ? take_hex(line) : std::nullopt;
        if (size && *size != 0 && *begin + *size > *begin && !line.empty())
            names.ranges_.push_back({*begin, *begin + *size, std::string(line)});
    }
    std::stable_sort(names.ranges_.begin(), names.ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
    return names;
}

std::optional<std::pair<std::string, uint64_t>> AddressNames::at(uint64_t address) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t a, const Range& range) { return a < range.begin; });
    if (after == ranges_.begin() || address >= std::prev(after)->end)
        return std::nullopt;
    const Range& range = *std::prev(after);
    return std::pair(range.name, address - range.begin);
}

} // namespace plumb::symbols
