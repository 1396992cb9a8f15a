// plumb system: whose time it is on the CPUs of this machine.
#include "analyses/lines/launch_command.h"
#include "commands/command.h"
#include "commands/duration_option.h"
#include "commands/watch_system.h"
#include "record/system/record_system.h"
#include "reports/complain.h"
#include "reports/print_report.h"
#include "support/error.h"
#include "support/figures.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>

namespace plumb {

namespace {

constexpr char kDefaultSystemTime[] = "60s";
constexpr double kLeastSystemTime_s = 0.1, kMostSystemTime_s = 7 * 86400, kProgressFrom_s = 5, kLeastInterval_s = 1;
constexpr double kLightRate_hz = 20, kLeastRate_hz = 0.1; // of all CPUs together, of one

struct SystemArguments {
    record::SystemOptions options;
    std::string time, every, history;
    bool has_rate = false;
    bool quiet = false, report = true;
    ReportOptions form;
};

void check_rate(double rate_hz) {
    if (!(rate_hz >= 1 && rate_hz <= 10'000))
        throw UsageError(fmt::format("--rate {}: at least 1, at most 10000", rate_hz));
}

double time_of(const char* option, const std::string& text, double least_s) {
    const double time_s = parse_duration_s(option, text);
    if (time_s < least_s || time_s > kMostSystemTime_s)
        throw UsageError(fmt::format("{} {}: at least {}, at most 168h", option, text, format_seconds(least_s)));
    return time_s;
}

uint64_t in_ns(double seconds) { return static_cast<uint64_t>(std::llround(seconds * 1e9)); }

// Weeks of it must not be felt: all CPUs together are sampled a few times a second.
void watch(SystemArguments& arguments) {
    record::SystemOptions& options = arguments.options;
    if (arguments.history.empty())
        throw UsageError("--every writes a history: name its file with --history FILE");
    if (!options.run_directory.empty())
        throw UsageError("--every records into the history alone: not with -o");
    options.time_ns = in_ns(time_of("--every", arguments.every, kLeastInterval_s));
    options.is_light = true;
    if (!arguments.has_rate)
        options.rate_hz = std::clamp(kLightRate_hz / static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))),
                                     kLeastRate_hz, kLightRate_hz);
    options.command = {"plumb", "system", "--every", arguments.every};
    const uint64_t most_ns = arguments.time.empty() ? 0 : in_ns(time_of("--time", arguments.time, kLeastInterval_s));
    watch_system(options, arguments.history, most_ns);
}

void record_and_report(SystemArguments& arguments) {
    const double time_s = time_of("--time", arguments.time.empty() ? kDefaultSystemTime : arguments.time, kLeastSystemTime_s);
    arguments.options.time_ns = in_ns(time_s);
    arguments.options.progress = !arguments.quiet && time_s >= kProgressFrom_s && isatty(STDERR_FILENO);
    arguments.options.command = {"plumb", "system"};
    if (arguments.options.cpus != "all")
        arguments.options.command.insert(arguments.options.command.end(), {"--cpus", arguments.options.cpus});
    arguments.options.command.insert(arguments.options.command.end(),
                                     {"--time", arguments.time.empty() ? kDefaultSystemTime : arguments.time});
    const record::SystemOutcome outcome = record::record_system(arguments.options);
    if (!arguments.report) {
        if (!arguments.quiet)
            complain("recorded; the report: plumb report " + shell_line({outcome.run_directory}));
        return;
    }
    print_report(outcome.run_directory, arguments.form, stdout);
}

} // namespace

CommandAction declare_system(CLI::App& subcommand) {
    auto arguments = std::make_shared<SystemArguments>();
    subcommand.add_option("--cpus", arguments->options.cpus, "CPUs to look at: all, or a list as 10-30")->capture_default_str();
    subcommand.add_option("--time", arguments->time, "For how long (60s; with --every until Ctrl-C); Ctrl-C ends it earlier");
    subcommand.add_option(
        "--every", arguments->every,
        "Look at the machine all the time, at a thousandth of one CPU, and append what was seen in each such interval, as 10m, "
        "to the file of --history");
    subcommand.add_option("--history", arguments->history,
                          "A line for each interval; plumb report FILE --at TIME shows one of them");
    CLI::Option* const rate =
        subcommand.add_option("--rate", arguments->options.rate_hz, "Samples a second of each CPU that is busy")
            ->capture_default_str();
    subcommand.add_option("-o,--output", arguments->options.run_directory,
                          "Record into this directory (default: plumb-system-<time>)");
    subcommand.add_flag("--force", arguments->options.force, "Replace the run that this directory holds");
    subcommand.add_option("--format", arguments->form.format, "text, json or html")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->capture_default_str();
    subcommand.add_option("--report", arguments->form.output, "Write the report to this file instead of the terminal");
    subcommand.add_flag_callback(
        "--no-report", [arguments] { arguments->report = false; }, "Record only; plumb report RUN prints the report later");
    subcommand.add_flag("--redact", arguments->options.redact, "Record no host names, arguments and folders");
    subcommand.add_flag("-q,--quiet", arguments->quiet, "Print no progress");
    return [arguments, rate] {
        arguments->has_rate = rate->count() > 0;
        if (arguments->has_rate)
            check_rate(arguments->options.rate_hz);
        if (!arguments->every.empty()) {
            watch(*arguments);
            return 0;
        }
        if (!arguments->history.empty())
            throw UsageError("--history is written by --every, as --every 10m");
        record_and_report(*arguments);
        return 0;
    };
}

} // namespace plumb
