// Why runs of one command take different times.
//
// The wall time of a run is the sum of its parts (RunFigures::wall_parts), so its variance is the sum of the parts' covariances with it:
// the shares are exact for the runs at hand and add up to 1. A part that is the same in all runs has none; one that is shorter where the
// run is longer has a negative one. Waiting names its cause itself. Work that is faster in one run than in another does not: what goes
// with it is looked for among the conditions of the runs (explanation.h), and the rest has no name.
#pragma once

#include "compare/run_figures.h"
#include "repeat/explanation.h"

#include <string>
#include <vector>

namespace plumb::repeat {

struct Interval {
    double low = 0, high = 0; // 95 %, by drawing the runs again with replacement (Efron's percentiles)
};

struct VariedPart {
    std::string name;     // "computing", "runnable, waiting for a CPU", ..
    bool is_work = false; // see WallPart
    double share = 0;     // of the variance of the wall time
    Interval interval;
    double least_s = 0, most_s = 0; // of the runs
};

struct VariedCondition {
    Explanation explanation; // of all work together
    double share = 0;        // of the variance of the wall time
    Interval interval;
};

struct Variation {
    double spread = 0;             // standard deviation of the wall time by its mean
    std::vector<VariedPart> parts; // by share, the largest first; empty: fewer than six runs
    std::vector<VariedCondition> conditions;
    std::vector<std::string> only_along_the_order; // see Explanations
    double unexplained = 0; // share of the variance: of work that no condition goes with

    // The runs differ by so much that it is worth a word.
    bool is_notable() const;
    // ... and a cause is known.
    bool is_known() const;
    // Waiting that is known to differ: its interval leaves no doubt.
    bool is_cause(const VariedPart& part) const { return !part.is_work && part.interval.low > 0; }
};

Variation variation_of(const std::vector<RunFigures>& runs);

} // namespace plumb::repeat
