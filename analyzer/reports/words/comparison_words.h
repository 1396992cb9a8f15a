// Differences of runs in words, for all forms of their report.
#pragma once

#include "compare/comparison.h"

#include <string>

namespace plumb {

inline constexpr const char* kTooFewRuns =
    "With so few runs it cannot be said which differences are chance: four of each are enough, or six in turns.";

std::string change_words(const statistics::Difference& difference);      // "+3.1 % (+2.0 to +4.2 %)"
const char* verdict_words(const statistics::Difference& difference);     // "more", "less", "cannot tell", or nothing of single runs
std::string shift_words(const statistics::Shift& shift);                 // "+120 ms (+90.0 to +150 ms)"
const char* finding_change_words(FindingChange::Kind kind);              // "gone", "new", ..

} // namespace plumb
