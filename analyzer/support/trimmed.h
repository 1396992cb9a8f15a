#pragma once

#include <string_view>

namespace plumb {

// Without the characters of `spaces` at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view spaces = " \t\r\n") {
    const size_t begin = text.find_first_not_of(spaces);
    return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

} // namespace plumb
