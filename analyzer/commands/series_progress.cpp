#include "commands/series_progress.h"

#include "support/figures.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace plumb {

namespace {
constexpr const char* kClearLine = "\r\033[K";
}

SeriesProgress::SeriesProgress() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

void SeriesProgress::operator()(size_t done, size_t all) const {
    if (!is_terminal_)
        return;
    const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    std::fputs(kClearLine, stderr);
    if (done > 0 && done < all)
        fmt::print(stderr, "run {} of {}, about {} left", done + 1, all,
                   format_seconds(passed_s / static_cast<double>(done) * static_cast<double>(all - done)));
    else if (done < all)
        fmt::print(stderr, "run 1 of {}", all);
    std::fflush(stderr);
}

} // namespace plumb
