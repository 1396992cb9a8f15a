// A place in the code of a run, with what identifies it in a run of another build.
#pragma once

#include <cstdint>
#include <string>

namespace plumb {

struct ComparedPlace {
    std::string function, module, file; // file: without its folders; empty: not known
    uint32_t line = 0;                  // 0: not known
    std::string text;                   // of the line, white space folded; empty: not known, see why_no_text
    uint32_t ordinal = 0;               // of the function's lines with this text, from 0
    std::string why_no_text;            // "cannot be read here", "changed since the build"; empty: there is text, or no line
};

} // namespace plumb
