// A line of source code as a key, to add up what instructions, inlined copies and template instances of it cost.
#pragma once

#include "model/source_resolver.h"

#include <compare>
#include <cstdint>
#include <string>

namespace plumb::model {

struct SourceLine {
    std::string module, file;
    uint32_t line = 0;
    std::string function; // empty where the line is known: a line is one place, whatever function it is called in

    auto operator<=>(const SourceLine&) const = default;
};

inline SourceLine source_line(const SourceFrame& frame) {
    return {frame.module, frame.file, frame.line, frame.line ? std::string() : frame.function};
}

} // namespace plumb::model
