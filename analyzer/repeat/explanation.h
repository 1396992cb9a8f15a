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
    std::vector<ConditionGroup> groups; // by value; of an amount with many values its lower, middle and upper third
    std::vector<std::string> equally;   // other conditions that differ in the same runs
};

// The conditions that explain `seconds` one after the other, each what those before it leave, at most three. Of conditions that
// are known of most runs, and differ. Deterministic.
std::vector<Explanation> explanations_of(std::span<const double> seconds, std::span<const RunConditions* const> runs);

} // namespace plumb::repeat
