#include "scale/thread_check.h"

#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb::scale {

std::string ThreadCheck::saw(size_t point, size_t threads) {
    counts_.emplace(point, threads);
    const bool differs = std::ranges::any_of(counts_, [&](const auto& one) { return one.second != counts_.begin()->second; });
    if (points_ < 2 || !is_done() || differs)
        return {};
    return fmt::format(
        "the command runs {} whatever OMP_NUM_THREADS says: put {{threads}}, {{ranks}} or {{size}} where its number goes, "
        "or give --copies",
        counted(threads, "thread", "threads"));
}

} // namespace plumb::scale
