// What a series of runs shows: how each command's times scatter, and how two commands differ that took turns.
#pragma once

#include "compare/comparison.h"
#include "repeat/series.h"
#include "repeat/variation.h"
#include "statistics/spread.h"

#include <optional>
#include <string>
#include <vector>

namespace plumb::repeat {

struct RepeatedCommand {
    std::string set, program; // the folder of its runs; the command line
    std::vector<SeriesRun> runs, failed;
    std::vector<RunFigures> figures; // of runs
    std::optional<statistics::Spread> wall_s, cpu_s; // none: no run counts
    Variation variation;
};

struct Repetition {
    std::string directory;
    std::vector<RepeatedCommand> commands;
    std::optional<Comparison> comparison; // of two commands, of the rounds in which both have a run that counts
    size_t asked = 0;                     // runs of each command
    std::string stopped, last_errors;     // as in SeriesResult
};

// `figures`: of result.runs, in the same order.
Repetition repetition_of(const SeriesOptions& options, const SeriesResult& result, const std::vector<RunFigures>& figures);

} // namespace plumb::repeat
