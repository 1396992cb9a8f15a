// Which compiler made a piece of code, and with which options, as it wrote them into the debug info (DW_AT_producer).
#pragma once

#include <string>
#include <string_view>

namespace plumb::code {

struct Compiler {
    enum class Kind { unknown, gcc, clang };
    enum class Language { other, c, cpp, fortran };
    Kind kind = Kind::unknown;
    bool is_other = false; // it is known, and none of these, or for another language: Go, Rust, Ada, ...
    Language language = Language::other;
    int version = 0;  // the major one, 0: not known
    bool has_options = false; // gcc writes them, clang does not by itself
    int level = -1;   // -O0 to -O3; of -Ofast 3; of -Os and -Og 1 and their flags; -1: not known
    std::string level_name; // "-O2"
    bool reorders = false;  // floating point sums: -Ofast, -ffast-math, -fassociative-math
    bool sets_errno = true; // mathematical functions may
    bool vectorizes_loops = false; // with a cost model that weighs what it gains, not only what costs nothing
    unsigned vector_bytes = 16;    // of the widest vectors it may use
    bool names_processor = false;  // -march= other than that for all x86-64 processors

    // "gcc 12", "gfortran 12", "clang 14"; "the compiler".
    std::string name() const;
};

Compiler compiler_of(std::string_view producer);

} // namespace plumb::code
