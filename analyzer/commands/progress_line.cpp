#include "commands/progress_line.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace plumb {

ProgressLine::ProgressLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& words) const {
    if (!is_terminal_)
        return;
    fmt::print(stderr, "\r\033[K{}", words);
    std::fflush(stderr);
}

} // namespace plumb
