#include "reports/print_report.h"
#include "reports/access_listing.h"
#include "reports/build_report.h"
#include "reports/html_report.h"
#include "reports/json_report.h"
#include "reports/redact_report.h"
#include "replay/replay.h"
#include "reports/text_report.h"
#include "reports/trace_events.h"
#include "support/error.h"
#include "team/team.h"
#include "symbols/resolver.h"
#include "trace/build_run.h"
#include "trace/run_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <unistd.h>

namespace plumb {

namespace {

constexpr size_t kSymbolNoteLimit = 5;

// What the files of a run are now. Of processes that report on it together all must read the same.
uint64_t state_of_files(const std::string& directory) {
    namespace fs = std::filesystem;
    uint64_t hash = 0;
    const auto add = [&hash](uint64_t number) {
        hash = (hash ^ number) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    };
    const trace::RunDirectory listing = trace::list_run_directory(directory);
    for (const auto* paths : {&listing.process_traces, &listing.node_traces})
        for (const std::string& path : *paths) {
            std::error_code ignored;
            for (const char character : fs::path(path).filename().string())
                add(static_cast<unsigned char>(character));
            add(fs::file_size(path, ignored));
            add(static_cast<uint64_t>(fs::last_write_time(path, ignored).time_since_epoch().count()));
        }
    return hash;
}

std::unique_ptr<team::Team> team_of(const std::string& directory, const ReportOptions& options) {
    if (options.job.empty() || options.processes < 2)
        return nullptr;
    const team::Place place{options.job, options.process, options.processes, directory, state_of_files(directory)};
    return place.own == 0 ? team::Team::lead(place) : team::Team::join(place);
}

model::Run read_run(const std::string& directory, const ReportOptions& options, team::Team* team) {
    model::Run run = trace::build_run(directory);
    if (run.processes.empty())
        throw Error(fmt::format(
            "{} holds no recorded process: the program may not have started, or every process was "
            "left out by --include/--exclude; plumb dump {} shows what is there",
            directory, directory));
    replay::replay_mpi(run, {.threads = options.threads, .open = {}, .team = team});
    return run;
}

symbols::Options symbol_options(const model::Run& run, const ReportOptions& options) {
    symbols::Options symbol_options = symbols::options_for(run);
    if (!options.sysroot.empty())
        symbol_options.sysroot = options.sysroot;
    symbol_options.debuginfod = options.debuginfod;
    symbol_options.source_maps = options.source_maps;
    symbol_options.known_paths = options.known_paths;
    return symbol_options;
}

// Files whose lines could not be had, or not be trusted.
void add_symbol_evidence(Report& report, const std::vector<std::string>& notes) {
    for (size_t index = 0; index < notes.size() && index < kSymbolNoteLimit; index++)
        report.evidence.push_back({"symbols", model::Evidence::State::limited, notes[index], ""});
    if (notes.size() > kSymbolNoteLimit)
        report.evidence.push_back({"symbols", model::Evidence::State::limited,
                                   fmt::format("{} more files like these", notes.size() - kSymbolNoteLimit),
                                   ""});
}

std::string rendered(const Report& report, const ReportOptions& options, std::FILE* stream) {
    if (options.align_sites)
        return access_listing(report);
    if (options.format == "json")
        return json_report(report);
    if (options.format == "html")
        return html_report(report);
    if (options.format != "text")
        throw Error(fmt::format("there is no report format \"{}\": text, json, html or timeline", options.format));
    TextStyle style = detect_style(stream, [](const char* name) -> const char* { return std::getenv(name); });
    return text_report(report, style);
}

void write_all(const std::string& text, std::FILE* stream, const std::string& name) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
        throw Error(fmt::format("cannot write the report to {}: {}", name, std::strerror(errno)));
}

using Write = std::function<void(std::FILE*, const std::string& name)>;

// Into a file beside it first: a report is replaced whole or not at all. What is no regular file (a device, a
// pipe) is written as it is.
void write_file(const Write& write, const ReportOptions& options) {
    const std::string part = fmt::format("{}.part-{}", options.output, getpid());
    const bool special = access(options.output.c_str(), F_OK) == 0 && options.output.starts_with("/dev/");
    const std::string& target = special ? options.output : part;
    std::FILE* file = std::fopen(target.c_str(), "we");
    if (!file)
        throw Error(fmt::format("cannot write the report to {}: {}", options.output, std::strerror(errno)));
    try {
        write(file, options.output);
    } catch (...) {
        std::fclose(file);
        if (!special)
            std::remove(part.c_str());
        throw;
    }
    std::fclose(file);
    if (!special && std::rename(part.c_str(), options.output.c_str()) != 0) {
        const int error = errno;
        std::remove(part.c_str());
        throw Error(fmt::format("cannot write the report to {}: {}", options.output, std::strerror(error)));
    }
}

// What the processes of a job do but the first. That one tells what is wrong with a run, and does what is left undone here.
void help_with_report(const std::string& run_directory, const ReportOptions& options) {
    try {
        if (const auto team = team_of(run_directory, options))
            read_run(run_directory, options, team.get());
    } catch (const std::exception&) {
    } catch (const team::TeamOver&) {
    }
}

} // namespace

void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream) {
    const bool is_timeline = options.format == "timeline" && !options.align_sites;
    if (options.process > 0 && is_timeline)
        return; // its ranks are read one after the other, by the first
    if (options.process > 0)
        return help_with_report(run_directory, options);
    // Lives on until the report is out: its end may take a moment.
    const auto team = is_timeline ? nullptr : team_of(run_directory, options);
    model::Run run = is_timeline ? trace::build_run(run_directory) : read_run(run_directory, options, team.get());
    const bool redact = options.redact || run.redacted;
    if (is_timeline && redact)
        throw Error("a timeline cannot be redacted: it names each call's line by its path; --format json, html and text can");
    if (redact)
        forget_arguments(run);
    const std::unique_ptr<model::SourceResolver> resolver =
        symbols::make_resolver(symbol_options(run, options));
    model::CallPaths paths(run, *resolver);
    Write write;
    if (is_timeline) {
        write = [&](std::FILE* file, const std::string&) { write_trace_events(paths, {.threads = options.threads}, file); };
    } else {
        auto report = std::make_shared<Report>(build_report(paths, diagnosis_registry(), options.only));
        add_symbol_evidence(*report, resolver->notes());
        if (!options.only_file.empty())
            keep_only_file(*report, options.only_file);
        if (redact)
            redact_report(*report, run, {run_directory, options.sysroot}); // quotes no source lines, either
        else
            report->may_show_source = [&](const std::string& file) { return resolver->may_show(file); };
        write = [report, &options](std::FILE* file, const std::string& name) {
            write_all(rendered(*report, options, file), file, name);
        };
    }
    if (options.output.empty())
        write(stream, "the terminal");
    else
        write_file(write, options);
}

} // namespace plumb
