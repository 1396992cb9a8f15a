// plumb report RUN: the diagnosis of a recorded run, as text, JSON or HTML, or its timeline.
#include "commands/command.h"
#include "commands/report_history.h"
#include "commands/report_kernel_log.h"
#include "diagnoses/registry.h"
#include "placement/launcher_ranks.h"
#include "record/run/job_identity.h"
#include "reports/print_report.h"
#include "support/error.h"
#include "symbols/resolver.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace plumb {

namespace {

struct Arguments {
    std::vector<std::string> runs; // one; with a kernel's log also programs and libraries, or none
    std::string kernel_log, at;
    ReportOptions report;
    std::vector<std::string> source_maps;
};

std::string diagnosis_list() {
    std::string text = "Diagnoses:";
    for (const DiagnosisEntry& entry : diagnosis_registry())
        text += std::string("\n  ") + entry.id + ": " + entry.summary;
    return text;
}

// Several processes of one launcher share the work, and the CPUs that it lets them use.
void take_place_in_job(ReportOptions& options) {
    const record::JobIdentity job = record::JobIdentity::from_environment();
    if (job.rank < 0 || job.rank_count < 2 || job.rank >= job.rank_count)
        return;
    options.process = static_cast<size_t>(job.rank);
    options.processes = static_cast<size_t>(job.rank_count);
    const auto local = placement::launched_rank([](const char* name) -> const char* { return std::getenv(name); });
    cpu_set_t allowed;
    if (local && local->local_count > 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        options.threads = static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed) / local->local_count));
}

} // namespace

CommandAction declare_report(CLI::App& subcommand) {
    auto arguments = std::make_shared<Arguments>();
    subcommand.add_option("RUN", arguments->runs, "Run directory that plumb run wrote, or a history of plumb system; with --kernel-log also programs and "
                          "libraries");
    subcommand.add_option("--format", arguments->report.format, "text, json, html, or timeline (MPI calls, for Perfetto or "
                                                                "chrome://tracing)")
        ->check(CLI::IsMember({"text", "json", "html", "timeline"}))
        ->capture_default_str();
    subcommand.add_option("-o,--output", arguments->report.output,
                          "Write to this file instead of the terminal");
    subcommand.add_flag("--full", arguments->report.full, "As text: everything, not one screen");
    subcommand.add_option("--finding", arguments->report.finding, "As text: only the finding of this number, with all that is known of it")
        ->check(CLI::PositiveNumber);
    subcommand.add_option("--only", arguments->report.only, "Run only the diagnoses with these ids, separated by commas")
        ->delimiter(',');
    subcommand.add_option("--model", arguments->report.model_file,
                          "Compare the cycles of MPI jobs with this file: rows \"ranks,seconds_per_cycle\", or a formula such as "
                          "0.1 + 8/ranks");
    subcommand.add_flag("--align-sites", arguments->report.align_sites,
                        "Print only the unaligned accesses, one line each, by cost: file:line: ...");
    subcommand.add_option("--kernel-log", arguments->kernel_log,
                          "Print what this file with the kernel's messages (dmesg, journalctl -k) says of programs and of the machine, "
                          "with the source lines by the RUN, or by programs and libraries that are named instead; - for standard "
                          "input, journal for what this machine's journal has of the run's time");
    subcommand.add_option("--at", arguments->at,
                          "Of a history that plumb system --history wrote (in place of RUN): show the interval of this time, as "
                          "\"2026-01-17 14:30\", 14:30 or @UNIX; without it each interval is a line");
    subcommand.add_option("--only-file", arguments->report.only_file,
                          "Show only unaligned accesses in source files that match this glob");
    subcommand.add_option("--source-map", arguments->source_maps,
                          "OLD=NEW: look below NEW for source files that the debug information names below OLD");
    subcommand.add_option("--sysroot", arguments->report.sysroot,
                          "Directory with the recorded machine's programs and libraries");
    subcommand.add_flag_callback("--no-debuginfod", [arguments] { arguments->report.debuginfod = false; },
                                 "Do not ask the servers of DEBUGINFOD_URLS for missing debug info");
    subcommand.add_flag("--redact", arguments->report.redact,
                        "Print a report that can be shown to others: no arguments, host or user names, folders of files or "
                        "source lines");
    subcommand.footer(diagnosis_list());
    return [arguments] {
        for (const std::string& text : arguments->source_maps)
            arguments->report.source_maps.push_back(symbols::parse_source_map(text));
        if (!arguments->kernel_log.empty()) {
            print_kernel_log(arguments->kernel_log, arguments->runs, arguments->report, stdout);
            return 0;
        }
        if (arguments->runs.size() != 1)
            throw UsageError(arguments->runs.empty() ? "RUN is required: the directory that plumb run wrote"
                                                     : "one RUN at a time; plumb compare takes several");
        if (is_history_file(arguments->runs.front())) {
            print_history(arguments->runs.front(), arguments->at, arguments->report, stdout);
            return 0;
        }
        if (!arguments->at.empty())
            throw UsageError(fmt::format("--at: {} is no history that plumb system --history wrote", arguments->runs.front()));
        take_place_in_job(arguments->report);
        print_report(arguments->runs.front(), arguments->report, stdout);
        return 0;
    };
}

} // namespace plumb
