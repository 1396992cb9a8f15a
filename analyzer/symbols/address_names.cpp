#include "symbols/address_names.h"

#include "platform/read_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>

namespace plumb::symbols {

namespace {

constexpr size_t kMaxLine = 1 << 16; // bytes
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

// Calls `take` for each line, without its end, until it returns false. Nothing for a negative descriptor; it is closed. Read in
// large pieces: the kernel makes the text of /proc/kallsyms anew at every read.
template <class Take> void for_each_line(int descriptor, Take take) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(descriptor < 0 ? nullptr : fdopen(descriptor, "r"), std::fclose);
    if (!file)
        return;
    std::vector<char> buffer(kMaxLine);
    size_t kept = 0;
    for (size_t got; (got = std::fread(buffer.data() + kept, 1, buffer.size() - kept, file.get())) > 0;) {
        std::string_view rest(buffer.data(), kept + got);
        for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1))
            if (!take(rest.substr(0, end)))
                return;
        kept = rest.size() < buffer.size() ? rest.size() : 0; // a line longer than the buffer is no line of such a file
        std::memmove(buffer.data(), rest.data(), kept);
    }
    if (kept > 0)
        take(std::string_view(buffer.data(), kept));
}

} // namespace

void AddressNames::add(uint64_t begin, uint64_t end, std::string_view name) {
    ranges_.push_back({begin, end, text_.size(), name.size()});
    text_ += name;
}

void AddressNames::sort() {
    const auto before = [](const Range& a, const Range& b) { return a.begin < b.begin; };
    if (!std::is_sorted(ranges_.begin(), ranges_.end(), before))
        std::stable_sort(ranges_.begin(), ranges_.end(), before);
}

AddressNames AddressNames::from_kallsyms(const std::string& path) {
    AddressNames names;
    for_each_line(open(path.c_str(), O_RDONLY | O_CLOEXEC), [&](std::string_view line) {
        const std::optional<uint64_t> address = take_hex(line);
        if (address && *address != 0 && line.size() >= 3 && line[1] == ' ' &&
            (line[0] == 't' || line[0] == 'T' || line[0] == 'w' || line[0] == 'W')) {
            line.remove_prefix(2);
            names.add(*address, UINT64_MAX, line.substr(0, line.find('\t')));
        }
        return names.ranges_.size() < kMaxEntries;
    });
    names.sort();
    for (size_t i = 0; i + 1 < names.ranges_.size(); ++i)
        names.ranges_[i].end = names.ranges_[i + 1].begin;
    return names;
}

AddressNames AddressNames::from_perf_map(const std::string& path) {
    return from_perf_map(platform::open_foreign_file(path, false));
}

AddressNames AddressNames::from_perf_map(int descriptor) {
    AddressNames names;
    for_each_line(descriptor, [&](std::string_view line) {
        const std::optional<uint64_t> begin = take_hex(line);
        const std::optional<uint64_t> size = begin ? take_hex(line) : std::nullopt;
        if (size && *size != 0 && *begin + *size > *begin && !line.empty())
            names.add(*begin, *begin + *size, line);
        return names.ranges_.size() < kMaxEntries;
    });
    names.sort();
    return names;
}

std::optional<std::pair<std::string, uint64_t>> AddressNames::at(uint64_t address) const {
    auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t a, const Range& range) { return a < range.begin; });
    if (after == ranges_.begin() || address >= std::prev(after)->end)
        return std::nullopt;
    const Range& range = *std::prev(after);
    return std::pair(text_.substr(range.name, range.length), address - range.begin);
}

std::optional<uint64_t> AddressNames::address_of(std::string_view name) const {
    for (const Range& range : ranges_)
        if (std::string_view(text_).substr(range.name, range.length) == name)
            return range.begin;
    return std::nullopt;
}

} // namespace plumb::symbols
