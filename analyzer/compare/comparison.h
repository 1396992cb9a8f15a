// Two sets of runs of a program, one beside the other.
//
// A change counts only where an interval leaves no doubt of it: of wall, CPU and metrics that of 99 %, of lines and call sites that of
// 95 % (statistics/difference.h); of single runs that is never so. Of many lines some seem to change by chance: lines are said to
// have changed only where the time of the whole run did. Counts that are exact (of all allocations, of MPI calls) have no noise where
// all runs of a side have the same: then two runs of each are enough.
#pragma once

#include "compare/merged_tree.h"
#include "compare/placements.h"
#include "compare/run_figures.h"
#include "statistics/difference.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb {

// Where code, the stack and the environment happen to lie in memory changes the time of a program by per cents (Mytkowicz and others:
// Producing wrong data without doing anything obviously wrong, 2009), and each build and each folder draws it anew. A change of time
// that is smaller than this says nothing of the program, however certain it is.
inline constexpr double kLeastChangeOfTime = 0.005;

struct ComparedFigure {
    std::string name, unit; // as in Metric
    statistics::Difference difference;

    bool is_amount() const { return unit == "count" || unit == "bytes"; } // else a time, or by the time: a rate, a fraction of it
    double least_change() const { return is_amount() ? 0 : kLeastChangeOfTime; }
    bool has_changed() const { return difference.is_certain(least_change()); }
};

struct ComparedAmount { // CPU time
    std::string name;
    statistics::Shift seconds;
    bool has_changed = false;
};

struct ComparedSite { // a line that allocates, or calls MPI
    std::string name;
    statistics::Shift calls, bytes, seconds; // seconds: of MPI calls, of all ranks together; of allocations not known, 0
    bool calls_changed = false, bytes_changed = false, seconds_changed = false;
    bool has_changed() const { return calls_changed || bytes_changed || seconds_changed; }
};

struct FindingChange {
    enum class Kind { gone, added, smaller, larger, same };
    Kind kind = Kind::same;
    std::string key, title;
    size_t base_runs = 0, other_runs = 0; // that have it
    statistics::Shift gain;               // of the wall time; 0 in runs that do not have it
};

struct Comparison {
    std::vector<std::string> programs; // different command lines, that of the base first
    size_t base_runs = 0, other_runs = 0;
    bool is_paired = false;
    ComparedFigure wall, cpu;
    std::vector<ComparedFigure> metrics;   // that both have, and above 0; those that changed first
    std::vector<ComparedAmount> lines;     // by the size of the change
    std::vector<std::string> line_notes;   // where lines of different builds could not be matched by their text, a sentence each
    std::vector<ComparedAmount> functions; // likewise; the same in other builds, where lines have other numbers
    std::vector<ComparedAmount> libraries; // likewise
    std::vector<ComparedSite> allocations; // by the change of bytes, those that changed first
    bool allocations_are_exact = false;    // in all runs every one was recorded; else they are estimates
    std::vector<ComparedSite> mpi_sites;   // by the change of seconds, those that changed first
    std::vector<FindingChange> findings;   // gone and added, then those whose gain changed, then the others

    MergedFrame call_tree; // empty unless the runs have them
    std::optional<Placements> placements; // in a network; none: not asked for

    bool is_known() const { return wall.difference.is_known; } // there are enough runs to tell
};

// At least one run of each; in turns, as many of the one as of the other.
Comparison compare_runs(const std::vector<RunFigures>& base, const std::vector<RunFigures>& other, Pairing pairing = Pairing::none);

} // namespace plumb
