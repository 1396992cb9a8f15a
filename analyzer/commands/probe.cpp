// plumb probe: the machine itself in a minute; what became slower since another probe; who slows it (--every).
#include "commands/command.h"
#include "commands/duration_option.h"
#include "platform/cpu_paths.h"
#include "probe/history/history.h"
#include "probe/judge/outcome.h"
#include "probe/measure/machine_facts.h"
#include "probe/measure/measure_machine.h"
#include "probe/watch/watch_machine.h"
#include "reports/complain.h"
#include "reports/json/probe.h"
#include "reports/json/probe_watch.h"
#include "reports/text/probe.h"
#include "reports/text/probe_watch.h"
#include "support/error.h"
#include "support/figures.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <unistd.h>

namespace plumb {

namespace {

constexpr double kLeastTime_s = 1, kLongestProbe_s = 86400, kMostEvery_s = 86400;
constexpr const char *kDefaultTime = "60s", *kDefaultLook = "2s";
constexpr int kSick = 1, kStoppedProbe = 128;

struct ProbeArguments {
    probe::ProbeOptions options;
    std::string time, every, duration, history, against, format = "text"; // duration: of --every; empty times: as by default
    bool no_history = false, list = false;
    double limit_percent = 10;
};

TextStyle output_style() {
    return detect_style(stdout, [](const char* name) -> const char* { return std::getenv(name); });
}

void put_out(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw Error("cannot write the report to the standard output");
}

void show_share(double share) {
    if (isatty(STDERR_FILENO))
        fmt::print(stderr, "\r\033[K{}", share < 1 ? fmt::format("probing: {:.0f} %", 100 * share) : "");
}

// Where the default file cannot be used, the machine is probed all the same. What the user names must work.
std::optional<probe::History> open_history(const ProbeArguments& arguments, std::string& file) {
    if (arguments.no_history)
        return std::nullopt;
    file = arguments.history.empty() ? probe::default_history_file() : arguments.history;
    if (!file.empty()) {
        try {
            return std::make_optional<probe::History>(file, arguments.list ? probe::History::Access::read
                                                                           : probe::History::Access::write);
        } catch (const Error& error) {
            if (!arguments.history.empty() || !arguments.against.empty() || arguments.list)
                throw;
            complain(fmt::format("this probe is not kept: {}", error.what()));
        }
    } else if (!arguments.against.empty() || arguments.list) {
        throw Error("there is no history: neither XDG_DATA_HOME nor HOME is set; name its file with --history");
    }
    file.clear();
    return std::nullopt;
}

int list_history(const ProbeArguments& arguments) {
    std::string file;
    std::optional<probe::History> history = open_history(arguments, file);
    if (!history)
        throw UsageError("--list prints the history: --no-history does not go with it");
    const auto probes = history->list();
    put_out(arguments.format == "json" ? probe_list_json(probes, file) : probe_list_text(probes, file, output_style()));
    return 0;
}

// A machine that is named by --against must be in the history before a minute is spent.
probe::EarlierProbe this_machine(const probe::MachineFacts& facts) {
    probe::EarlierProbe machine;
    machine.host = facts.host;
    machine.cpu_model = facts.cpu_model;
    machine.cpu_count = facts.cpu_count;
    return machine;
}

int probe_once(const ProbeArguments& arguments) {
    if (arguments.no_history && !arguments.against.empty())
        throw UsageError("--against compares with the history: --no-history does not go with it");
    std::string file;
    std::optional<probe::History> history = open_history(arguments, file);
    std::optional<probe::EarlierProbe> earlier;
    if (!arguments.against.empty())
        earlier = history->find(arguments.against, this_machine(probe::machine_facts("", 0)));
    probe::EndSignals signals;
    probe::Measured measured;
    {
        probe::Prober prober(arguments.options, signals);
        measured = prober.measure(show_share);
    }
    show_share(1);
    std::vector<int> cpus;
    for (const probe::CpuTurns& cpu : measured.cpus)
        cpus.push_back(cpu.cpu);
    probe::ProbeOutcome outcome =
        probe::judge(std::move(measured), platform::read_cpu_paths("", cpus), arguments.limit_percent / 100);
    if (earlier)
        outcome.against = probe::compare_with(*earlier, record_of(outcome), outcome.limit);
    if (history && !outcome.measured.signal) { // of half a probe, the figures would be those of half of the machine
        outcome.history_id = history->keep(record_of(outcome));
        outcome.history_file = file;
    }
    put_out(arguments.format == "json" ? probe_json(outcome) : probe_text(outcome, output_style()));
    if (outcome.measured.signal)
        return kStoppedProbe + outcome.measured.signal;
    return outcome.is_sick() ? kSick : 0;
}

int watch(const ProbeArguments& arguments) {
    probe::WatchOptions options{arguments.options, parse_duration_s("--every", arguments.every), 0};
    options.probe.is_short = true;
    if (!arguments.duration.empty())
        options.for_s = parse_duration_s("--for", arguments.duration);
    if (options.every_s < options.probe.time_s || options.every_s > kMostEvery_s)
        throw UsageError(fmt::format("--every {}: at least the {} of a look (--time), at most 24h", arguments.every,
                                     format_seconds(options.probe.time_s)));
    if (!arguments.against.empty())
        throw UsageError("--against compares whole probes: it does not go with --every");
    probe::EndSignals signals;
    const probe::Watched watched = probe::watch_machine(options, signals, [](size_t looks) {
        if (isatty(STDERR_FILENO))
            fmt::print(stderr, "\r\033[K{}; Ctrl-C ends it and prints the report", counted(looks, "look", "looks"));
    });
    show_share(1);
    put_out(arguments.format == "json" ? probe_watch_json(watched) : probe_watch_text(watched, output_style()));
    return watched.ended_early ? kStoppedProbe + signals.come() : 0;
}

int run_probe(ProbeArguments arguments) {
    if (arguments.list)
        return list_history(arguments);
    if (arguments.time.empty())
        arguments.time = arguments.every.empty() ? kDefaultTime : kDefaultLook;
    arguments.options.time_s = parse_duration_s("--time", arguments.time);
    if (arguments.options.time_s < kLeastTime_s || arguments.options.time_s > kLongestProbe_s)
        throw UsageError(fmt::format("--time {}: at least 1s, at most 24h", arguments.time));
    if (!arguments.every.empty())
        return watch(arguments);
    if (!arguments.duration.empty())
        throw UsageError("--for is the duration of --every: without that, --time is how long to measure");
    return probe_once(arguments);
}

} // namespace

CommandAction declare_probe(CLI::App& subcommand) {
    auto arguments = std::make_shared<ProbeArguments>();
    subcommand.footer("Exit status: 0; 1: a CPU is slower than the others, or with --against something became slower; "
                      "128+N: ended by signal N; "
                      "125: the probe failed. As the prologue of a job: plumb probe --time 10s || refuse the node.");
    subcommand.add_option("--time", arguments->time,
                          "How long to measure, about (60s; with --every 2s): Ctrl-C ends it earlier, and the report is "
                          "of what was measured until then");
    subcommand
        .add_option("--cpus", arguments->options.cpus,
                    "CPUs to measure: all that may be used, or a list as 0,2-5. CPUs of different "
                    "kinds are compared as if they were alike: probe each kind on its own")
        ->capture_default_str();
    subcommand.add_option("--against", arguments->against,
                          "Compare with an earlier probe of this machine: last, its number, or a date as "
                          "2026-11-28 or \"2026-11-28 14:30\" (the latest until then)");
    subcommand.add_option("--limit", arguments->limit_percent, "In percent: what is slower by less does not count")
        ->check(CLI::Range(0.0, 10'000.0))
        ->capture_default_str();
    subcommand.add_option("--every", arguments->every,
                          "Beside a load: a short probe each time that has passed, with the CPU time of all "
                          "programs meanwhile, until Ctrl-C; then who was busy when the machine was slow");
    subcommand.add_option("--for", arguments->duration, "With --every: end after this time");
    subcommand.add_option("--folder", arguments->options.folder, "Measure the disk of this folder")->capture_default_str();
    subcommand.add_option("--history", arguments->history, "SQLite file of all probes (default: plumbline/probe.sqlite in "
                                                           "$XDG_DATA_HOME or ~/.local/share)");
    subcommand.add_flag("--no-history", arguments->no_history, "Keep nothing");
    subcommand.add_flag("--list", arguments->list, "Measure nothing: print the probes of the history");
    subcommand.add_option("--format", arguments->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    return [arguments] { return run_probe(*arguments); };
}

} // namespace plumb
