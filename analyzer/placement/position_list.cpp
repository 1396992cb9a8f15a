#include "placement/position_list.h"

#include "support/error.h"
#include "support/trimmed.h"

#include <charconv>
#include <fmt/core.h>

namespace plumb::placement {

namespace {

[[noreturn]] void refuse(std::string_view part, const char* why) {
    throw UsageError(fmt::format("'{}' is not a list of CPUs: {}; write numbers and ranges such as 0,2,4-7,8-14:2",
                            part, why));
}

// Takes a number off the front of `rest`.
int take_number(std::string_view& rest, std::string_view part) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc::result_out_of_range || (error == std::errc{} && number >= kMostPositions))
        refuse(part, "the number is too large");
    if (error != std::errc{} || number < 0)
        refuse(part, "a number was expected");
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return number;
}

bool take(std::string_view& rest, char character) {
    if (rest.empty() || rest.front() != character)
        return false;
    rest.remove_prefix(1);
    return true;
}

void append_part(std::string_view part, std::vector<int>& positions) {
    std::string_view rest = part;
    const int first = take_number(rest, part);
    int last = first, step = 1;
    if (take(rest, '-')) {
        last = take_number(rest, part);
        if (take(rest, ':'))
            step = take_number(rest, part);
    }
    if (!rest.empty())
        refuse(part, "unexpected text follows the number or range");
    if (last < first)
        refuse(part, "the range runs backwards");
    if (step == 0)
        refuse(part, "the step is 0");
    for (int position = first; position <= last; position += step) {
        if (positions.size() >= static_cast<size_t>(kMostPositions))
            refuse(part, "it names too many CPUs");
        positions.push_back(position);
    }
}

} // namespace

std::vector<int> parse_position_list(std::string_view text) {
    std::vector<int> positions;
    text = trimmed(text);
    if (text.empty())
        return positions;
    while (true) {
        const size_t comma = text.find(',');
        append_part(trimmed(text.substr(0, comma)), positions);
        if (comma == std::string_view::npos)
            return positions;
        text.remove_prefix(comma + 1);
    }
}

} // namespace plumb::placement
