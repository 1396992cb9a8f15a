// Which condition of the runs goes with a time of theirs that varies.
#pragma once

#include "compare/run_conditions.h"

#include <span>
#include <string>
#include <vector>

namespace plumb::repeat {

struct ConditionGroup {
    std::string kind;             // "CPU 3"; empty: of an amount
    double least = 0, most = 0;   // of the amount
    size_t runs = 0;
    double median_s = 0;
};

// Of one condition. That they go together is no proof that it is the cause; runs in which it was set on purpose are.
struct Explanation {
    std::string condition;
    double fraction = 0;        // of the time's variance, less what a condition without effect would have by chance (adjusted R^2)
    double raw_fraction = 0;    // with that
    double probability = 1;     // that one of so many conditions without effect goes with it as closely: by permutations of ranks
    std::vector<double> fitted; // by run: the time that follows from the condition
    std::vector<ConditionGroup> groups; // by value; of an amount with many values by two heaps or three thirds of it
    std::vector<std::string> equally;   // other conditions that differ in the same runs
};

struct Explanations {
    std::vector<Explanation> by_condition; // one after the other, each what those before it leave; at most three
    // They go with the time, but no more than the order of the runs does: whatever else changed from run to run may be the cause.
    std::vector<std::string> only_along_the_order;
};

// Of `seconds` by run, in the order in which they ran. Of conditions that are known of most runs, and differ. Deterministic.
Explanations explanations_of(std::span<const double> seconds, std::span<const RunConditions* const> runs);

} // namespace plumb::repeat
