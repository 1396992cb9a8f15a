// The code that the compiler made out of certain source files, by the line tables of executables and libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::symbols {

struct CodeRange {
    uint64_t begin, end; // in the file's own address space; the end is not part of it
};

// The code of `image` (an ELF file, or one with a separate debug file) whose line-table rows name a source file that
// matches one of `globs`: against the whole path, or against the end of it behind a '/'. Inlined code belongs to
// the file that it was written in. Sorted, without overlaps; empty: nothing matches, or there is no debug info.
std::vector<CodeRange> code_of_sources(const std::string& image, const std::vector<std::string>& globs);

// Whether a source path matches a glob as above. '*' matches '/' too.
bool matches_source(const std::string& path, const std::string& glob);

} // namespace plumb::symbols
