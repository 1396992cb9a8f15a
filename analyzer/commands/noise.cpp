// plumb noise: measures the noise of this machine, or of all nodes of a job, and prints a report.
#include "analyses/lines/launch_command.h"
#include "analyses/noise/foreign_losses.h"
#include "analysis/analyse_run.h"
#include "commands/command.h"
#include "commands/duration_option.h"
#include "noise/classes_file.h"
#include "record/noise/measure_noise.h"
#include "reports/complain.h"
#include "reports/print_report.h"
#include "support/error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>

namespace plumb {

namespace {

constexpr double kLeastQuantum_s = 10e-6, kMostQuantum_s = 10, kMostTime_s = 7 * 86400;
constexpr uint64_t kLeastQuanta = 10;
constexpr double kWorthProgress_s = 5;

struct NoiseArguments {
    record::NoiseOptions options;
    std::string quantum = "1ms", time = "10s";
    std::string losses, classes_out; // files; empty: none
    bool quiet = false, report = true;
    ReportOptions form;
};

void apply_times(NoiseArguments& arguments) {
    const double quantum_s = parse_duration_s("--quantum", arguments.quantum), time_s = parse_duration_s("--time", arguments.time);
    if (quantum_s < kLeastQuantum_s || quantum_s > kMostQuantum_s)
        throw UsageError(fmt::format("--quantum {}: at least 10us, at most 10s", arguments.quantum));
    if (time_s > kMostTime_s)
        throw UsageError(fmt::format("--time {}: at most 168h", arguments.time));
    if (time_s < kLeastQuanta * quantum_s)
        throw UsageError(fmt::format("--time {} is too short for quanta of {}: at least {} of them are needed", arguments.time,
                                     arguments.quantum, kLeastQuanta));
    arguments.options.quantum_ns = static_cast<uint64_t>(std::llround(quantum_s * 1e9));
    arguments.options.time_ns = static_cast<uint64_t>(std::llround(time_s * 1e9));
    arguments.options.progress = !arguments.quiet && time_s >= kWorthProgress_s && isatty(STDERR_FILENO);
}

// As a file that `plumb simulate --noise` reads, whole or not at all.
void write_classes(const model::NoiseMachine& machine, const std::string& path) {
    const std::string text = noise::classes_text(machine);
    std::FILE* const file = std::fopen(path.c_str(), "we");
    const bool is_written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const int error = errno;
    if (file && std::fclose(file) == 0 && is_written)
        return;
    throw Error(fmt::format("cannot write the classes to {}: {}", path, std::strerror(error ? error : errno)));
}

void report_on(const Report& report, const NoiseArguments& arguments) {
    if (!arguments.classes_out.empty() && report.noise)
        write_classes(report.noise->machine, arguments.classes_out);
    if (arguments.report)
        print_made_report(report, arguments.form, stdout);
}

void report_on_losses(const NoiseArguments& arguments) {
    const model::Run run = run_of_losses(noise::read_losses_table(arguments.losses), arguments.losses);
    Report report;
    report.run = &run;
    report.noise = summarise_noise(run);
    report_on(report, arguments);
}

void measure_and_report(NoiseArguments& arguments) {
    apply_times(arguments);
    arguments.options.command = {"plumb", "noise", "--quantum", arguments.quantum, "--time", arguments.time,
                                 "--cpus", arguments.options.cpus};
    const record::NoiseOutcome outcome = record::measure_noise(arguments.options);
    if (!outcome.last)
        return;
    if (!arguments.report && !arguments.quiet)
        complain("measured; the report: plumb report " + shell_line({outcome.run_directory}));
    if (!arguments.report && arguments.classes_out.empty())
        return;
    AnalysisOptions analysis = arguments.form;
    const AnalysedRun analysed = analyse_run(outcome.run_directory, analysis); // the report refers to it
    report_on(analysed.report, arguments);
}

} // namespace

CommandAction declare_noise(CLI::App& subcommand) {
    auto arguments = std::make_shared<NoiseArguments>();
    subcommand.add_option("--quantum", arguments->quantum, "Length of the work whose excess time is measured, 10us to 10s")
        ->capture_default_str();
    subcommand.add_option("--time", arguments->time, "How long to measure; Ctrl-C ends it earlier")->capture_default_str();
    subcommand.add_option("--cpus", arguments->options.cpus, "CPUs to measure: all that may be used, or a list as 0,2-5")
        ->capture_default_str();
    subcommand.add_option("-o,--output", arguments->options.run_directory,
                          "Record into this directory (default: plumb-noise-<time>)");
    subcommand.add_flag("--force", arguments->options.force, "Replace the run that this directory holds");
    subcommand.add_option("--losses", arguments->losses,
                          "Measure nothing: report on this table of losses (CSV: node,cpu,time_s,loss_s)");
    subcommand.add_option("--classes-out", arguments->classes_out, "Write the classes of events to this file, as JSON");
    subcommand.add_option("--format", arguments->form.format, "text, json or html")
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->capture_default_str();
    subcommand.add_option("--report", arguments->form.output, "Write the report to this file instead of the terminal");
    subcommand.add_flag_callback("--no-report", [arguments] { arguments->report = false; },
                                 "Record only; plumb report RUN prints the report later");
    subcommand.add_flag("--redact", arguments->options.redact, "Record no host names");
    subcommand.add_flag("-q,--quiet", arguments->quiet, "Print no progress");
    return [arguments] {
        if (arguments->losses.empty())
            measure_and_report(*arguments);
        else
            report_on_losses(*arguments);
        return 0;
    };
}

} // namespace plumb
