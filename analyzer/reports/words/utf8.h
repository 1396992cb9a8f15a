// Names come from untrusted places (file names, thread names, argument vectors). Before they are shown they
// become valid UTF-8 without control characters.
#pragma once

#include <string>
#include <string_view>

namespace plumb {

// Invalid bytes become U+FFFD, control characters (C0, DEL, C1, and the bidirectional overrides that can make
// text read as something else) become a space. Valid text comes back as it was.
std::string sanitised(std::string_view text);

// The same line by line: the ends of lines stay.
std::string sanitised_lines(std::string_view text);

// The same for a pure ASCII reader: everything above 0x7e becomes '?'.
std::string ascii_only(std::string_view text);

// Columns that valid UTF-8 takes on a terminal, one a code point, none for combining marks. Escape sequences
// of colours take none.
size_t columns(std::string_view text);

} // namespace plumb
