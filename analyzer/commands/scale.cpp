// plumb scale -- CMD {threads}: runs at several numbers of threads, ranks or copies, or sizes; the best point, and what grows
// behind it.
#include "analyses/lines/launch_command.h"
#include "analysis/analyse_run.h"
#include "commands/command.h"
#include "commands/series_progress.h"
#include "commands/series_reports.h"
#include "commands/target_command.h"
#include "platform/cpuset.h"
#include "record/run/run_directory.h"
#include "reports/json/scaling.h"
#include "reports/text/scaling.h"
#include "reports/text/terminal.h"
#include "scale/scaling.h"
#include "scale/thread_check.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace plumb {

namespace {

struct ScaleArguments {
    scale::AskedPoints points;
    repeat::SeriesOptions series;
    std::string format = "text", record, prepare;
};

constexpr size_t kRoundsOfSweep = 6; // the fewest whose median has a 95 % interval
constexpr size_t kMostRoundsOfSweep = 1000;
constexpr int kNothingMeasured = 1, kOfSignal = 128;

size_t copies_at(const scale::Sweep& sweep, size_t point) {
    return sweep.axis == scale::Axis::copies ? static_cast<size_t>(sweep.points[point].value) : 0;
}

int scale_runs(ScaleArguments arguments, const std::vector<std::string>& command) {
    const size_t cpus = platform::allowed_cpus("/", platform::affinity_mask()).size();
    scale::SweepRuns runs{scale::sweep_of(command, arguments.points, cpus, arguments.prepare), arguments.series, {}, {}};
    repeat::SeriesOptions& series = runs.options;
    series.commands = runs.sweep.commands;
    series.record_options = CLI::detail::split_up(arguments.record);
    if (series.directory.empty())
        series.directory = record::timed_name("plumb-scale-", command.front());
    scale::ThreadCheck check(series.commands.size());
    if (runs.sweep.is_by_environment)
        series.reason_to_end = [&](size_t point, const std::string& directory) {
            return check.is_done() ? std::string() : check.saw(point, scale::facts_of(analyse_run(directory, {}).report, 0).threads);
        };
    runs.result = repeat::record_series(series, SeriesProgress());
    AnalysisOptions options;
    options.every_line = true; // one that is not among the first of one point may be at another
    for_each_report(runs.result, options, [&](const repeat::SeriesRun& run, const Report& report) {
        runs.facts.push_back(scale::facts_of(report, copies_at(runs.sweep, run.command)));
    });
    scale::Scaling scaling = scaling_of(runs, cpus);
    scaling.program = shell_line(command);
    const TextStyle style = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
    const std::string text = arguments.format == "text" ? scaling_text(scaling, style) : scaling_json(scaling);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write the report to the standard output");
    if (runs.result.signal)
        return kOfSignal + runs.result.signal;
    return scaling.first ? 0 : kNothingMeasured;
}

} // namespace

CommandAction declare_scale(CLI::App& subcommand) {
    auto arguments = std::make_shared<ScaleArguments>();
    arguments->series.rounds = kRoundsOfSweep;
    subcommand.add_option(
        "--threads", arguments->points.threads,
        "Numbers of threads, as 1,2,4 (default: the powers of two up to the number of CPUs); they replace {threads} in "
        "the command, else they are set as OMP_NUM_THREADS");
    subcommand.add_option("--ranks", arguments->points.ranks, "Numbers of ranks, for {ranks} in the command");
    subcommand.add_option(
        "--copies", arguments->points.copies,
        "Numbers of copies of the command that run at the same time; {copy} in it is replaced by the number of the copy, "
        "from 0");
    subcommand.add_option("--size", arguments->points.size, "Sizes of the problem, for {size} in the command");
    subcommand.add_option("-n,--rounds", arguments->series.rounds, "Runs that count, of each point; all points take turns")
        ->check(CLI::Range(size_t{1}, kMostRoundsOfSweep))
        ->capture_default_str();
    subcommand.add_option("--warm-up", arguments->series.warm_up_rounds, "Runs of each point before those that count")
        ->check(CLI::Range(size_t{0}, kMostRoundsOfSweep))
        ->capture_default_str();
    subcommand.add_option("--prepare", arguments->prepare,
                          "A shell line to run before each run, not recorded; {threads}, {ranks} and {size} are replaced in it as well");
    subcommand.add_option("-o,--output", arguments->series.directory,
                          "A new folder for the runs (default: plumb-scale-<program>-<time>)");
    subcommand.add_option("--record", arguments->record, "Options of plumb run for each run, as \"--heap off --rate 99\"");
    subcommand.add_option("--format", arguments->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    declare_target(subcommand);
    return [&subcommand, arguments] { return scale_runs(*arguments, target_of(subcommand)); };
}

} // namespace plumb
