// plumb repeat -n N -- CMD: many recorded runs as one set, and how they scatter; with --versus, of two commands in turns.
#include "analysis/analyse_run.h"
#include "commands/command.h"
#include "commands/series_progress.h"
#include "commands/series_reports.h"
#include "commands/target_command.h"
#include "record/run/run_directory.h"
#include "repeat/repetition.h"
#include "reports/html/repetition.h"
#include "reports/json/repetition.h"
#include "reports/text/repetition.h"
#include "reports/text/terminal.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace plumb {

namespace {

struct RepeatArguments {
    repeat::SeriesOptions series;
    std::string versus, format = "text", record, prepare;
};

constexpr size_t kMostRounds = 1000;
constexpr int kNothingToCount = 1, kOfSignals = 128;

// Words are run as they stand, as the first command is; what only a shell understands, by one.
std::vector<std::string> words_of(const std::string& line) {
    if (line.find_first_of("|&;<>()$`\\\"'*?[]#~={}!\n") != std::string::npos)
        return {"/bin/sh", "-c", line};
    return CLI::detail::split_up(line);
}

// As text where of two commands no round has a run of both that counts: there is nothing to compare.
std::string rendered_repetition(const repeat::Repetition& repetition, const std::string& format) {
    if (format == "json")
        return repetition_json(repetition);
    if (format == "html" && (repetition.comparison || repetition.commands.size() == 1))
        return repetition_html(repetition);
    return repetition_text(repetition, detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); }));
}

int repeat_runs(RepeatArguments arguments, const std::vector<std::string>& command) {
    repeat::SeriesOptions& series = arguments.series;
    series.commands = {{arguments.versus.empty() ? "runs" : "base", command}};
    if (!arguments.versus.empty())
        series.commands.push_back({"versus", words_of(arguments.versus)});
    for (repeat::SeriesCommand& one : series.commands)
        one.prepare = arguments.prepare;
    series.record_options = CLI::detail::split_up(arguments.record);
    if (series.directory.empty())
        series.directory = record::timed_name("plumb-repeat-", command.front());
    repeat::SeriesResult result = repeat::record_series(series, SeriesProgress());
    AnalysisOptions options;
    options.every_line = true;
    options.call_tree = arguments.format == "html";
    std::vector<RunFigures> figures;
    for_each_report(result, options, [&](const repeat::SeriesRun&, const Report& report) { figures.push_back(figures_of(report)); });
    const repeat::Repetition repetition = repetition_of(series, result, figures);
    const std::string text = rendered_repetition(repetition, arguments.format);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write the report to the standard output");
    if (result.runs.empty())
        return kNothingToCount;
    return result.signal ? kOfSignals + result.signal : 0;
}

} // namespace

CommandAction declare_repeat(CLI::App& subcommand) {
    auto arguments = std::make_shared<RepeatArguments>();
    subcommand.add_option("-n,--runs", arguments->series.rounds, "Runs that count, of each command")
        ->check(CLI::Range(size_t{1}, kMostRounds))
        ->capture_default_str();
    subcommand.add_option("--versus", arguments->versus,
                          "Compare with this command, quoted as one word: one run of each in turns, each pair in the opposite order of "
                          "the last");
    subcommand.add_option("--warm-up", arguments->series.warm_up_rounds, "Runs of each command before those that count")
        ->check(CLI::Range(size_t{0}, kMostRounds))
        ->capture_default_str();
    subcommand.add_option("--prepare", arguments->prepare, "A shell line to run before each run, not recorded");
    subcommand.add_option("-o,--output", arguments->series.directory,
                          "A new folder for the runs (default: plumb-repeat-<program>-<time>)");
    subcommand.add_option("--record", arguments->record, "Options of plumb run for each run, as \"--heap off --rate 99\"");
    subcommand.add_flag("--count-failures", arguments->series.failures_count,
                        "Runs that end with another status than 0 count as any other");
    subcommand.add_option("--format", arguments->format, "text, json or html")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->capture_default_str();
    declare_target(subcommand);
    return [&subcommand, arguments] { return repeat_runs(*arguments, target_of(subcommand)); };
}

} // namespace plumb
