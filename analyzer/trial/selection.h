// Which cures are tried, and which go together.
#pragma once

#include "trial/outcome.h"

#include <string>
#include <vector>

namespace plumb::trial {

struct Wanted {
    bool all = false;             // that apply, also where nothing speaks for them
    std::vector<std::string> ids; // these and no others; empty: no choice was made
};

// Every cure with its promise, and with its state and why: measured of those to try, by promise, the largest first, then the
// others. Throws UsageError: no cure has such an id.
std::vector<CureOutcome> select_cures(std::vector<Cure> cures, const std::vector<Finding>& findings, const Wanted& wanted);

// Few cures share a run of the base: then each is close to it in time, and a base that was lucky misleads about few.
inline constexpr size_t kCuresInRound = 3;
constexpr size_t runs_of_rounds(size_t cures) {
    return cures + (cures + kCuresInRound - 1) / kCuresInRound;
}

// So many cures at most that kLeastPairs runs of each, and those of the base beside them, `run_s` each, end within `time_s`; at
// least one.
size_t affordable(double run_s, double time_s);

// Of those that are better, the best, and with it all that no better one of them excludes.
std::vector<size_t> best_together(const std::vector<CureOutcome>& cures);

} // namespace plumb::trial
