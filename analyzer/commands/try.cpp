// plumb try -- CMD: tries what the findings advise at launch, and says what each gained.
#include "commands/command.h"
#include "commands/duration_option.h"
#include "commands/progress_line.h"
#include "commands/target_command.h"
#include "record/run/run_directory.h"
#include "reports/json/trial.h"
#include "reports/text/terminal.h"
#include "reports/text/trial.h"
#include "support/error.h"
#include "trial/try_cures.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <memory>

namespace plumb {

namespace {

struct TryArguments {
    trial::TryOptions trial;
    std::string time = "10min", format = "text", record;
    double worth_percent = 2;
};

constexpr int kBySignal = 128;

// Whole lines in one write, so that several plumb may add to one file.
void append(const std::string& file, const std::string& lines) {
    std::FILE* stream = std::fopen(file.c_str(), "ae");
    const bool is_written = stream && std::fwrite(lines.data(), 1, lines.size(), stream) == lines.size();
    const bool is_closed = stream && std::fclose(stream) == 0;
    if (!is_written || !is_closed)
        throw Error(fmt::format("cannot add to {}: {}", file, std::strerror(errno)));
}

int try_and_report(TryArguments arguments, const std::vector<std::string>& command) {
    trial::TryOptions& options = arguments.trial;
    options.command = command;
    options.time_s = parse_duration_s("--time", arguments.time);
    options.rules.worth = arguments.worth_percent / 100;
    if (options.directory.empty())
        options.directory = record::timed_name("plumb-try-", command.front());
    const ProgressLine progress;
    const trial::Outcome outcome = trial::try_cures(options, [&progress](const std::string& words) { progress.show(words); });
    progress.show("");
    const TextStyle style = detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
    const std::string text = arguments.format == "text" ? trial_text(outcome, options.only_list, style) : trial_json(outcome);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write the report to the standard output");
    if (!arguments.record.empty())
        append(arguments.record, trial_lines(outcome, std::time(nullptr)));
    return outcome.signal ? kBySignal + outcome.signal : 0;
}

} // namespace

CommandAction declare_try(CLI::App& subcommand) {
    auto arguments = std::make_shared<TryArguments>();
    trial::TryOptions& options = arguments->trial;
    subcommand.add_option("--cure", options.wanted.ids, "Try these, whatever the findings say (--list names them)")
        ->delimiter(',')
        ->allow_extra_args(false);
    subcommand.add_flag("--all", options.wanted.all, "Try all cures that apply here, also those that nothing speaks for");
    subcommand.add_flag("--list", options.only_list, "Record one run, then list all cures, and why some do not apply");
    subcommand
        .add_option("--output", options.outputs,
                    "Compare these files of the command's, too: a cure that changes them has failed")
        ->delimiter(',')
        ->allow_extra_args(false);
    subcommand.add_option("--prepare", options.prepare, "A shell line to run before each run; its time does not count");
    subcommand.add_option("--time", arguments->time, "For all runs together, e.g. 90s, 10min or 2h")->capture_default_str();
    subcommand.add_option("--worth", arguments->worth_percent, "Gains below this percentage of the wall time are too small")
        ->check(CLI::Range(0.0, 50.0))
        ->capture_default_str();
    subcommand.add_option("--pairs", options.rules.most_pairs, "Runs of each cure at most")
        ->check(CLI::Range(trial::kLeastPairs, trial::kMostPairs))
        ->capture_default_str();
    subcommand.add_option("--record", arguments->record,
                          "Add to this file, as lines of JSON, what was promised and what was measured");
    subcommand.add_option("-o", options.directory, "A new folder for the runs (default: plumb-try-<program>-<time>)");
    subcommand.add_option("--format", arguments->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    declare_target(subcommand);
    return [&subcommand, arguments] { return try_and_report(*arguments, target_of(subcommand)); };
}

} // namespace plumb
