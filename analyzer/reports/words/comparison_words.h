// Differences of runs in words, for all forms of their report.
#pragma once

#include "compare/comparison.h"

#include <string>

namespace plumb {

inline constexpr const char* kTooFewRuns =
    "With so few runs it cannot be said which differences are chance: four of each are enough, or six in turns.";

// What reports that do not list everything list: what changed; with too few runs to say so, whatever differs noticeably.
bool is_shown(const ComparedFigure& figure, bool is_known);
bool is_shown(const ComparedAmount& amount, bool is_known);
bool is_shown(const ComparedSite& site, bool is_known);

std::string change_words(const statistics::Difference& difference);      // "+3.1 % (+2.0 to +4.2 %)"
const char* verdict_words(const ComparedFigure& figure);                 // "more", "less", "cannot tell", or nothing of single runs
std::string shift_words(const statistics::Shift& shift);                 // "+120 ms (+90.0 to +150 ms)"
std::string count_change_words(const statistics::Shift& shift);          // "10,000 -> 20,000", "10,000" where they are the same
std::string bytes_change_words(const statistics::Shift& shift);          // "1.00 MiB -> 2.00 MiB"
std::string seconds_change_words(const statistics::Shift& shift);        // "1.20 s -> 1.50 s"
std::string comparison_verdict(const Comparison& comparison);            // a sentence on the wall time
std::string allocations_basis(const Comparison& comparison);             // whether they were counted or estimated
const char* finding_change_words(FindingChange::Kind kind);              // "gone", "new", ..

// Of --topology.
std::string placement_links_words(const Placements& placements); // what the links are: "links a byte passes"
std::string pieces_words(const PlacedSide& side);                // "2 to 5"
std::string placement_verdict(const Placements& placements);     // sentences: what the others saved, and whether links have to do with it

} // namespace plumb
