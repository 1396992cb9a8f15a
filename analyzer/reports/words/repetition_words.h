// Series of runs in words, for all forms of their report.
#pragma once

#include "repeat/repetition.h"

#include <string>
#include <vector>

namespace plumb {

// "3 runs failed and are not counted: exit status 1 (2 times), 139 (1 times)". Of a command with failed runs.
std::string failure_words(const repeat::RepeatedCommand& command);

struct SpreadRow {
    std::string name;               // "base wall"; without the set where there is one command
    std::vector<std::string> cells; // of spread_titles()
};

// Why runs differ: what has a share of the variance of the wall time, the conditions first.
struct VariationRow {
    std::string name, share, interval;
};
std::vector<VariationRow> variation_rows(const repeat::Variation& variation);

// "CPU 0: 1.20 s in 8 runs, CPU 1: 2.40 s in 12 runs"
std::string median_work_words(const repeat::Explanation& explanation);

inline constexpr const char* kSameRuns = " differs in the same runs: which of the two it is cannot be said";
inline constexpr const char* kAlongTheOrder = " changed from run to run along with the work, but so did everything that changed with the order "
                                              "of the runs: which of them it is cannot be said";

std::vector<std::string> spread_titles();
std::vector<SpreadRow> spread_rows(const std::vector<repeat::RepeatedCommand>& commands);

} // namespace plumb
