// A limit on what may change between runs, for use in a test: "wall > +3%".
#pragma once

#include "compare/comparison.h"

#include <string>

namespace plumb {

struct Limit {
    std::string text, figure; // as it was given; wall, cpu or the name of a metric
    bool is_upper = true;     // broken by more than it; else by less
    double ratio = 1;         // 1.03 of "> +3%"
};

// Throws UsageError: what is no limit.
Limit parse_limit(const std::string& text);

// Whether it is certain that the figure changed, and that the change is beyond the limit by the best estimate. Throws UsageError: no
// such figure, with those there are; a limit within ComparedFigure::least_change(), which could never be broken as it is meant; too
// few runs to tell.
bool is_broken(const Limit& limit, const Comparison& comparison);

} // namespace plumb
