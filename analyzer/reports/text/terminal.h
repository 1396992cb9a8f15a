// What the place the text report goes to can show: its width, colours, letters beyond ASCII.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace plumb {

struct TextStyle {
    int width = 100;      // columns, 80 to 120
    bool colour = false;  // ANSI attributes
    bool unicode = false; // UTF-8; otherwise pure ASCII
};

using EnvironmentLookup = std::function<const char*(const char* name)>; // as getenv

// Colour only on a terminal whose TERM is not "dumb" and while NO_COLOR is unset or empty. Open MPI gives each rank a
// terminal of its own and copies what is written there to wherever its own output goes: no colour for its ranks.
// CLICOLOR_FORCE (not 0) asks for colour anywhere. The width is the
// terminal's, or COLUMNS where that is set; 100 elsewhere. UTF-8 by LC_ALL, LC_CTYPE, LANG in that order.
TextStyle detect_style(std::FILE* stream, const EnvironmentLookup& environment);

} // namespace plumb
