#include "network/files/host_list.h"

#include "support/error.h"
#include "support/trimmed.h"

#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <optional>

namespace plumb::network {

namespace {

constexpr size_t kMostNames = 1'000'000;

[[noreturn]] void refuse(std::string_view list, const std::string& why) {
    throw Error(fmt::format("{}: not a list of nodes: {}", list.substr(0, 200), why));
}

uint64_t number(std::string_view text, std::string_view list) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        refuse(list, fmt::format("\"{}\" is no number", text));
    return value;
}

// Appends to each beginning each number of "00012-00015,00020".
std::vector<std::string> with_numbers(const std::vector<std::string>& beginnings, std::string_view ranges, std::string_view list) {
    std::vector<std::string> names;
    for (size_t begin = 0; begin <= ranges.size();) {
        const size_t comma = std::min(ranges.find(',', begin), ranges.size());
        const std::string_view range = ranges.substr(begin, comma - begin);
        const size_t dash = range.find('-');
        const std::string_view first = range.substr(0, dash);
        const uint64_t from = number(first, list), to = dash == std::string_view::npos ? from : number(range.substr(dash + 1), list);
        if (to < from || to - from >= kMostNames || beginnings.size() * (to - from + 1) + names.size() > kMostNames)
            refuse(list, fmt::format("the range {} {}", range, to < from ? "runs backwards" : "is too long"));
        for (uint64_t value = from; value <= to; ++value)
            for (const std::string& beginning : beginnings)
                names.push_back(fmt::format("{}{:0{}}", beginning, value, first.size()));
        begin = comma + 1;
    }
    return names;
}

// What follows "slots=" or a colon: how many.
std::optional<uint64_t> slots_of(std::string_view line) {
    size_t at = line.find("slots=");
    if (at != std::string_view::npos)
        at += 6;
    else if (at = line.find(':'); at != std::string_view::npos)
        at += 1;
    else
        return std::nullopt;
    uint64_t slots = 0;
    const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), slots);
    return error == std::errc{} && end != line.data() + at ? std::optional(slots) : std::nullopt;
}

std::vector<std::string> read_host_file(std::ifstream& file, const std::string& path) {
    std::vector<std::string> names;
    for (std::string text; std::getline(file, text);) {
        const std::string_view line = trimmed(std::string_view(text).substr(0, text.find('#')));
        if (line.empty())
            continue;
        const std::string name(line.substr(0, line.find_first_of(": \t")));
        const uint64_t slots = slots_of(line).value_or(1);
        if (names.size() + slots > kMostNames)
            throw Error(fmt::format("{}: more than {} slots", path, kMostNames));
        names.insert(names.end(), slots, name);
    }
    if (names.empty())
        throw Error(fmt::format("{}: no line of this file names a node", path));
    return names;
}

} // namespace

std::vector<std::string> expand_host_list(std::string_view list) {
    std::vector<std::string> names, open{""}; // open: beginnings of the name at hand
    bool is_begun = false;
    const auto end_name = [&] {
        if (is_begun)
            names.insert(names.end(), open.begin(), open.end());
        open.assign(1, "");
        is_begun = false;
    };
    for (size_t at = 0; at < list.size(); ++at) {
        if (list[at] == ',' || std::isspace(static_cast<unsigned char>(list[at]))) {
            end_name();
        } else if (list[at] == '[') {
            const size_t close = list.find(']', at);
            if (close == std::string_view::npos)
                refuse(list, "a bracket is not closed");
            open = with_numbers(open, list.substr(at + 1, close - at - 1), list);
            is_begun = true;
            at = close;
        } else if (list[at] == ']') {
            refuse(list, "a bracket is closed that was not opened");
        } else {
            for (std::string& each : open)
                each += list[at];
            is_begun = true;
        }
    }
    end_name();
    if (names.empty())
        refuse(list, "it names none");
    return names;
}

std::vector<std::string> read_hosts(const std::string& list_or_path) {
    if (std::ifstream file(list_or_path); file)
        return read_host_file(file, list_or_path);
    if (list_or_path.find('/') != std::string::npos)
        throw Error(fmt::format("cannot read {}: there is no such file", list_or_path));
    return expand_host_list(list_or_path);
}

} // namespace plumb::network
