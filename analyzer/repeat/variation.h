// Why runs of one command take different times: the variance of their wall time, divided among what the wall time was spent on.
//
// The wall time of a run is the sum of its parts (TimeAccount::wall), so its variance is the sum of the parts' covariances with it: the
// shares are exact for the runs at hand and add up to 1. A part that is the same in all runs has none; one that is shorter where the run
// is longer has a negative one. How far other runs would give other shares is found by drawing the runs again with replacement.
#pragma once

#include "compare/run_figures.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::repeat {

struct VariedPart {
    std::string name;          // "computing", "runnable, waiting for a CPU", ..
    double share = 0;          // of the variance of the wall time
    double low = 0, high = 0;  // 95 % interval
    double least_s = 0, most_s = 0; // of the runs
};

// A metric that goes up and down with the time of a part: no proof that it is the cause.
struct Companion {
    std::string metric;
    double correlation = 0; // of ranks (Spearman)
    double probability = 1; // that one of so many metrics goes with it as closely by chance
};

struct Variation {
    double spread = 0;             // of the wall time: most / least - 1
    std::vector<VariedPart> parts; // by share, the largest first; empty: fewer than six runs
    std::optional<Companion> companion; // of the first part

    // The runs differ by so much that it is worth a word, and a part is known to be the reason.
    bool is_known() const;
};

Variation variation_of(const std::vector<RunFigures>& runs);

} // namespace plumb::repeat
