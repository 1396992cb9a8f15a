#include "commands/series_progress.h"

#include "support/figures.h"

#include <fmt/format.h>

namespace plumb {

void SeriesProgress::operator()(size_t done, size_t all) const {
    const double passed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (done == all)
        line_.show("");
    else if (done == 0)
        line_.show(fmt::format("run 1 of {}", all));
    else
        line_.show(fmt::format("run {} of {}, about {} left", done + 1, all,
                               format_seconds(passed_s / static_cast<double>(done) * static_cast<double>(all - done))));
}

} // namespace plumb
