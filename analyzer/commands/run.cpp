// plumb run: records a program and prints the diagnosis.
#include "analyses/lines/launch_command.h"
#include "commands/align_options.h"
#include "commands/command.h"
#include "commands/target_command.h"
#include "placement/pin_session.h"
#include "record/recorder.h"
#include "record/run/crash_guard.h"
#include "record/run/executable.h"
#include "record/run/sweep.h"
#include "reports/complain.h"
#include "reports/print_report.h"
#include "support/error.h"
#include "support/start_up_memory.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <new>
#include <plumb/environment.h>

namespace plumb {

namespace {

constexpr uint64_t kLeastTimelineBytes = 64 << 10, kMostTimelineBytes = 1 << 30;

// On stderr, after the program. A report that fails does not change the program's exit status.
void show(const record::Outcome& outcome, const record::Options& options, const ReportOptions& report) {
    if (!outcome.problem.empty())
        complain("the recording is incomplete: " + outcome.problem);
    if (!options.swept.empty())
        complain("before the program started, " + options.swept);
    if (options.report && outcome.first_failure) // nobody is left to print the report where the launcher kills the rest
        complain(fmt::format("a rank ended with exit status {} before the others; if no report appears, run: plumb report {}",
                             outcome.exit_status, shell_line({outcome.run_directory})));
    if (!options.report || !outcome.last)
        return;
    try {
        ReportOptions with_paths = report;
        with_paths.known_paths = outcome.private_paths;
        print_report(outcome.run_directory, with_paths, stderr);
    } catch (const std::exception& error) {
        complain(fmt::format("recorded into {}, but the report failed: {}", outcome.run_directory, error.what()));
    }
}

// What is done for a program before it starts, and fails, does not keep it from running. What cannot be meant is no such
// failure: it throws.
template <class Action> void attempt(const char* consequence, Action action) {
    try {
        action();
    } catch (const UsageError&) {
        throw;
    } catch (const std::exception& error) {
        complain(fmt::format("{}: {}", consequence, error.what()));
    }
}

// What `--pin` asks for; the threads' placement is then part of the record.
std::shared_ptr<placement::PinSession> apply_pinning(const placement::PinOptions& wanted, record::Options& options) {
    auto session = std::make_shared<placement::PinSession>(wanted, "");
    for (const auto& [name, value] : session->environment(options.command))
        options.environment[name] = value;
    if (!record::find_executable(options.command.front()).can_preload)
        options.prepare_child = [session](pid_t pid) { session->confine(pid); };
    return session;
}

// A misspelt name would collect, or leave out, something else than was meant.
CLI::Validator is_collector() {
    return CLI::Validator(
        [](const std::string& name) {
            const auto& known = record::collector_names();
            return std::ranges::find(known, name) != known.end()
                       ? std::string()
                       : fmt::format("there is no collector {}; the collectors are {}", name, fmt::join(known, ", "));
        },
        "COLLECTOR");
}

// "16M" in bytes. Throws what CLI11 throws for a wrong value.
uint64_t size_of(const std::string& option, std::string text) {
    try {
        CLI::AsSizeValue(false)(text);
    } catch (const CLI::ValidationError& error) {
        throw CLI::ValidationError(option, error.what());
    }
    const uint64_t bytes = std::stoull(text);
    if (bytes < kLeastTimelineBytes || bytes > kMostTimelineBytes)
        throw CLI::ValidationError(option, fmt::format("{} bytes: at least 64K, at most 1G", bytes));
    return bytes;
}

} // namespace

CommandAction declare_run(CLI::App& subcommand) {
    auto options = std::make_shared<record::Options>();
    auto call_graph = std::make_shared<std::string>("dwarf");
    subcommand.add_option("-o,--output", options->run_directory,
                          "Record into this directory (default: plumb-<program>-<time>)");
    subcommand.add_flag("--force", options->force, "Replace the run that this directory holds");
    subcommand.add_flag_callback("--no-report", [options] { options->report = false; },
                                 "Record only; plumb report RUN prints the diagnosis later");
    subcommand.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
    const CLI::Option* rate =
        subcommand.add_option("--rate", options->rate_hz, "Samples a second on each CPU. Unless given, fewer after two seconds, "
                                                          "where few threads begin")
            ->check(CLI::Range(1.0, 10000.0))
            ->capture_default_str();
    subcommand.add_option("--call-graph", *call_graph, "How to find callers: dwarf (call-frame information), fp (frame "
                                                       "pointers) or none")
        ->check(CLI::IsMember({"fp", "dwarf", "none"}))
        ->capture_default_str();
    subcommand.add_option("--budget", options->budget_percent,
                          "Record less when recording costs more than this percentage of the run")
        ->check(CLI::Range(0.01, 100.0))
        ->capture_default_str();
    subcommand.add_option("--with", options->with, "Collect also: align, counters (hardware and kernel events, each after a test)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(is_collector());
    subcommand.add_option("--without", options->without,
                          fmt::format("Do not collect: {}", fmt::join(record::collector_names(), ", ")))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(is_collector());
    const CLI::Option* heap =
        subcommand.add_option("--heap", options->heap, "Record allocations: sample, full (every one) or off")
        ->check(CLI::IsMember({"sample", "full", "off"}))
        ->capture_default_str();
    auto alignment = std::make_shared<AlignOptions>();
    declare_align_options(subcommand, *alignment);
    subcommand.add_option("--include", options->include, "Glob of the executables to record from inside (default: all)");
    subcommand.add_option("--exclude", options->exclude, "Glob of the executables not to record from inside");
    auto timeline = std::make_shared<std::string>();
    const CLI::Option* has_timeline =
        subcommand.add_flag("--timeline{16M}", *timeline, "Keep the latest MPI calls one by one, in this many bytes a process "
                                                          "(16M)");
    auto sweep = std::make_shared<bool>(false);
    subcommand.add_flag("--sweep", *sweep,
                        "Before the start, free memory on the NUMA nodes by dropping cached files, for at most 30 seconds");
    auto pinning = std::make_shared<placement::PinOptions>();
    placement::declare_run_pin_options(subcommand, *pinning);
    subcommand.add_flag("--redact", options->redact,
                        "Record no arguments, host names or folders of files, and report none");
    auto report = std::make_shared<ReportOptions>();
    subcommand.add_flag_callback("--no-debuginfod", [report] { report->debuginfod = false; },
                                 "Do not ask the servers of DEBUGINFOD_URLS for missing debug info");
    declare_target(subcommand);

    return [&subcommand, options, rate, call_graph, pinning, alignment, heap, sweep, timeline, has_timeline, report]() {
        options->command = target_of(subcommand);
        const record::CrashGuard guard(options->command, record::Inheritance::now());
        options->rate_is_fixed = rate->count() > 0;
        apply_align_options(*alignment, heap->count() > 0, *options);
        options->call_graph = *call_graph == "dwarf"  ? record::CallGraph::dwarf
                              : *call_graph == "none" ? record::CallGraph::none
                                                      : record::CallGraph::frame_pointers;
        std::shared_ptr<placement::PinSession> placement; // lives as long as the program
        if (placement::wants_pinning(*pinning))
            attempt("the program is not pinned", [&] { placement = apply_pinning(*pinning, *options); });
        if (has_timeline->count() > 0)
            options->environment[environment::kTimeline] = std::to_string(size_of("--timeline", *timeline));
        if (*sweep)
            attempt("no memory was freed on the NUMA nodes",
                    [&] { options->swept = record::sweep_words(record::sweep_nodes({})); });
        end_start_up_memory();
        const record::Outcome outcome = record::record(*options);
        if (!options->quiet) {
            std::signal(SIGPIPE, SIG_IGN); // nobody may be left to read it
            try {
                show(outcome, *options, *report);
            } catch (const std::bad_alloc&) {
                write_words("there is no memory for a message: the recording may not be whole, and no report is printed");
            } catch (const std::exception&) {} // stderr is full: the exit status stays the program's
        }
        return outcome.exit_status;
    };
}

} // namespace plumb
