#include "reports/print_report.h"
#include "reports/access_listing.h"
#include "reports/build_report.h"
#include "reports/html_report.h"
#include "reports/json_report.h"
#include "replay/replay.h"
#include "reports/text_report.h"
#include "support/error.h"
#include "symbols/resolver.h"
#include "trace/build_run.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace plumb {

namespace {

constexpr size_t kSymbolNoteLimit = 5;

model::Run read_run(const std::string& directory) {
    model::Run run = trace::build_run(directory);
    if (run.processes.empty())
        throw Error(fmt::format(
            "{} holds no recorded process: the program may not have started, or every process was "
            "left out by --include/--exclude; plumb dump {} shows what is there",
            directory, directory));
    replay::replay_mpi(run);
    return run;
}

symbols::Options symbol_options(const model::Run& run, const ReportOptions& options) {
    symbols::Options symbol_options = symbols::options_for(run);
    if (!options.sysroot.empty())
        symbol_options.sysroot = options.sysroot;
    symbol_options.source_maps = options.source_maps;
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
        throw Error(fmt::format("there is no report format \"{}\": text, json or html", options.format));
    TextStyle style = detect_style(stream, [](const char* name) -> const char* { return std::getenv(name); });
    return text_report(report, style);
}

void write_all(const std::string& text, std::FILE* stream, const std::string& name) {
    if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
        throw Error(fmt::format("cannot write the report to {}: {}", name, std::strerror(errno)));
}

// Into a file beside it first: a report is replaced whole or not at all. What is no regular file (a device, a
// pipe) is written as it is.
void write_file(const Report& report, const ReportOptions& options) {
    const std::string part = fmt::format("{}.part-{}", options.output, getpid());
    const bool special = access(options.output.c_str(), F_OK) == 0 && options.output.starts_with("/dev/");
    const std::string& target = special ? options.output : part;
    std::FILE* file = std::fopen(target.c_str(), "we");
    if (!file)
        throw Error(fmt::format("cannot write the report to {}: {}", options.output, std::strerror(errno)));
    try {
        write_all(rendered(report, options, file), file, options.output);
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

} // namespace

void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream) {
    const model::Run run = read_run(run_directory);
    const std::unique_ptr<model::SourceResolver> resolver =
        symbols::make_resolver(symbol_options(run, options));
    model::CallPaths paths(run, *resolver);
    Report report = build_report(paths, diagnosis_registry(), options.only);
    add_symbol_evidence(report, resolver->notes());
    if (!options.only_file.empty())
        keep_only_file(report, options.only_file);
    if (options.output.empty())
        write_all(rendered(report, options, stream), stream, "the terminal");
    else
        write_file(report, options);
}

} // namespace plumb
