#include "repeat/repetition.h"

#include "analyses/lines/launch_command.h"

#include <algorithm>
#include <iterator>

namespace plumb::repeat {

namespace {

statistics::Spread spread_of(const std::vector<RunFigures>& figures, double RunFigures::*figure) {
    std::vector<double> values;
    for (const RunFigures& one : figures)
        values.push_back(one.*figure);
    return statistics::spread_of(values);
}

// Of rounds that one of them has no run of, nothing.
std::optional<Comparison> comparison_of(const RepeatedCommand& base, const RepeatedCommand& other) {
    std::vector<RunFigures> base_figures, other_figures;
    for (size_t i = 0; i < base.runs.size(); ++i) {
        const auto beside = std::ranges::find(other.runs, base.runs[i].round, &SeriesRun::round);
        if (beside == other.runs.end())
            continue;
        base_figures.push_back(base.figures[i]);
        other_figures.push_back(other.figures[static_cast<size_t>(beside - other.runs.begin())]);
    }
    if (base_figures.empty())
        return std::nullopt;
    return compare_runs(base_figures, other_figures, Pairing::in_turns);
}

} // namespace

Repetition repetition_of(const SeriesOptions& options, const SeriesResult& result, const std::vector<RunFigures>& figures) {
    Repetition repetition;
    repetition.directory = options.directory;
    repetition.asked = options.rounds;
    repetition.stopped = result.stopped;
    repetition.last_errors = result.last_errors;
    for (size_t index = 0; index < options.commands.size(); ++index) {
        RepeatedCommand command;
        command.set = options.commands[index].set;
        command.program = shell_line(options.commands[index].words);
        for (size_t i = 0; i < result.runs.size(); ++i)
            if (result.runs[i].command == index) {
                command.runs.push_back(result.runs[i]);
                command.figures.push_back(figures[i]);
            }
        std::ranges::copy_if(result.failed, std::back_inserter(command.failed), [&](const SeriesRun& run) { return run.command == index; });
        if (!command.figures.empty()) {
            command.wall_s = spread_of(command.figures, &RunFigures::wall_s);
            command.cpu_s = spread_of(command.figures, &RunFigures::cpu_s);
            command.variation = variation_of(command.figures);
        }
        repetition.commands.push_back(std::move(command));
    }
    if (repetition.commands.size() == 2)
        repetition.comparison = comparison_of(repetition.commands[0], repetition.commands[1]);
    return repetition;
}

} // namespace plumb::repeat
