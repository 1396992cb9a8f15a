// A condition of the runs that may go with their time, and how much of it.
#pragma once

#include "compare/run_conditions.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plumb::repeat {

using PerRun = std::vector<double>;

double sum_of_squares(const PerRun& values); // about their mean

// A condition of most runs: in groups, or along an amount.
struct Candidate {
    std::string name;
    bool is_amount = false;
    bool is_line = false;             // an amount with so many values that the time is taken to go along it
    std::vector<size_t> runs;         // that it is known of: what follows is by these
    std::vector<size_t> group;        // not of a line
    std::vector<std::string> labels;  // by group; of an amount, empty ones
    PerRun amount;

    size_t freedom() const { return is_line ? 1 : labels.size() - 1; }
};

// The conditions that are known of most runs and differ, in few enough values to be counted or along an amount.
std::vector<Candidate> candidates_of(std::span<const RunConditions* const> runs);

// By least squares. Of a run that the condition is not known of, the mean of the others: that it is not known explains nothing.
PerRun fit(const Candidate& candidate, const PerRun& values);

// Of the variance of the values.
double raw_fraction(const Candidate& candidate, const PerRun& values);
// Adjusted R^2 (Ezekiel 1930): 0 on average where the condition has no effect.
double fraction_explained(const Candidate& candidate, const PerRun& values);

} // namespace plumb::repeat
