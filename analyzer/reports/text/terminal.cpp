#include "reports/text/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace plumb {

namespace {

bool is_set(const char* value) {
    return value && *value;
}

bool wants_colour(bool terminal, const EnvironmentLookup& environment) {
    if (is_set(environment("NO_COLOR")))
        return false;
    const char* forced = environment("CLICOLOR_FORCE");
    if (is_set(forced) && std::string_view(forced) != "0")
        return true;
    const char* kind = environment("TERM");
    return terminal && is_set(kind) && std::string_view(kind) != "dumb" && !is_set(environment("OMPI_COMM_WORLD_RANK"));
}

bool names_utf8(const EnvironmentLookup& environment) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = environment(name);
        if (!is_set(value))
            continue;
        const std::string_view locale = value;
        const size_t dot = locale.find('.');
        if (dot == std::string_view::npos)
            return false;
        const char* charset = value + dot + 1;
        return strncasecmp(charset, "UTF-8", 5) == 0 || strncasecmp(charset, "UTF8", 4) == 0;
    }
    return false;
}

int columns_of(int descriptor, bool terminal, const EnvironmentLookup& environment) {
    if (const char* columns = environment("COLUMNS"); is_set(columns))
        if (const int value = std::atoi(columns); value > 0)
            return value;
    winsize size{};
    if (terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 100;
}

} // namespace

TextStyle detect_style(std::FILE* stream, const EnvironmentLookup& environment) {
    const int descriptor = fileno(stream);
    const bool terminal = descriptor >= 0 && isatty(descriptor);
    TextStyle style;
    style.colour = wants_colour(terminal, environment);
    style.unicode = names_utf8(environment);
    style.width = std::clamp(columns_of(descriptor, terminal, environment), 80, 120);
    return style;
}

} // namespace plumb
