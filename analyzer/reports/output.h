// Where a report goes: a stream, or a file that is replaced whole or not at all.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace plumb {

using WriteReport = std::function<void(std::FILE*, const std::string& name)>; // name: of what is written to, for errors

// To the file `output`, to `stream` where it is empty. Throws Error: it cannot be written; what `write` throws.
void write_where_asked(const WriteReport& write, const std::string& output, std::FILE* stream);

// All of `text`. Throws Error.
void write_all(const std::string& text, std::FILE* stream, const std::string& name);

} // namespace plumb
