// plumb run: records a program and prints the diagnosis.
#include "commands/align_options.h"
#include "commands/command.h"
#include "commands/target_command.h"
#include "placement/pin_session.h"
#include "record/executable.h"
#include "record/recorder.h"
#include "reports/print_report.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <memory>

namespace plumb {

namespace {

// On stderr, after the program. A report that fails does not change the program's exit status.
void show(const record::Outcome& outcome, const record::Options& options) {
    if (!outcome.problem.empty())
        fmt::print(stderr, "plumb: the recording is not whole: {}\n", outcome.problem);
    if (!options.report || !outcome.last)
        return;
    try {
        print_report(outcome.run_directory, ReportOptions{}, stderr);
    } catch (const std::exception& error) {
        fmt::print(stderr, "plumb: recorded into {}, but the report failed: {}\n", outcome.run_directory, error.what());
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

} // namespace

CommandAction declare_run(CLI::App& subcommand) {
    auto options = std::make_shared<record::Options>();
    auto call_graph = std::make_shared<std::string>("dwarf");
    subcommand.add_option("-o,--output", options->run_directory,
                          "Record into this directory (default: plumb-<program>-<time>)");
    subcommand.add_flag("--force", options->force, "Replace the run that this directory holds");
    subcommand.add_flag("--no-report{false}", options->report, "Record only; plumb report RUN shows it later");
    subcommand.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
    subcommand.add_option("--rate", options->rate_hz, "Samples a second on each CPU")
        ->check(CLI::Range(1.0, 10000.0))
        ->capture_default_str();
    subcommand.add_option("--call-graph", *call_graph, "How callers are found: dwarf (call-frame information), fp (frame pointers) or none")
        ->check(CLI::IsMember({"fp", "dwarf", "none"}))
        ->capture_default_str();
    subcommand.add_option("--budget", options->budget_percent,
                          "Slow recording down when it costs more than this percentage of the run")
        ->check(CLI::Range(0.01, 100.0))
        ->capture_default_str();
    subcommand.add_option("--with", options->with, "Collect also: align, ...")->delimiter(',');
    subcommand.add_option("--without", options->without, "Do not collect: sample, heap, mpi, threads, modules, align, ...")
        ->delimiter(',');
    const CLI::Option* heap =
        subcommand.add_option("--heap", options->heap, "Record allocations: sample, full (every one) or off")
        ->check(CLI::IsMember({"sample", "full", "off"}))
        ->capture_default_str();
    auto alignment = std::make_shared<AlignOptions>();
    declare_align_options(subcommand, *alignment);
    subcommand.add_option("--include", options->include, "Glob of executables to record inside (default: all)");
    subcommand.add_option("--exclude", options->exclude, "Glob of executables to leave alone");
    auto pinning = std::make_shared<placement::PinOptions>();
    placement::declare_run_pin_options(subcommand, *pinning);
    declare_target(subcommand);

    return [&subcommand, options, call_graph, pinning, alignment, heap]() {
        options->command = target_of(subcommand);
        apply_align_options(*alignment, heap->count() > 0, *options);
        options->call_graph = *call_graph == "dwarf"  ? record::CallGraph::dwarf
                              : *call_graph == "none" ? record::CallGraph::none
                                                      : record::CallGraph::frame_pointers;
        std::shared_ptr<placement::PinSession> placement; // lives as long as the program
        if (placement::wants_pinning(*pinning))
            placement = apply_pinning(*pinning, *options);
        const record::Outcome outcome = record::record(*options);
        if (!options->quiet)
            show(outcome, *options);
        return outcome.exit_status;
    };
}

} // namespace plumb
