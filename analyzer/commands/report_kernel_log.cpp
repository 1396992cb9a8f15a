#include "commands/report_kernel_log.h"

#include "analysis/open_run.h"
#include "commands/kernel_journal.h"
#include "kernel_log/study.h"
#include "reports/json/kernel_log.h"
#include "reports/output.h"
#include "reports/text/kernel_log.h"
#include "reports/text/terminal.h"
#include "support/error.h"
#include "symbols/resolver.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr char kJournal[] = "journal"; // a file of this name is ./journal

kernel_log::Study of_journal(const model::Run* run, kernel_log::Places& places) {
    if (!run)
        throw UsageError("--kernel-log journal: of which time? Name a RUN of this machine");
    KernelJournal journal(*run);
    kernel_log::Study study = kernel_log::study_log(journal.path(), places);
    journal.end();
    study.log = "the journal of the run's time";
    return study;
}

} // namespace

void print_kernel_log(const std::string& log, const std::vector<std::string>& named, const ReportOptions& options, std::FILE* stream) {
    if (options.format != "text" && options.format != "json")
        throw UsageError(fmt::format("--kernel-log is printed as text or json, not as {}", options.format));
    std::unique_ptr<OpenedRun> run;
    std::vector<std::string> binaries;
    for (const std::string& path : named) {
        if (!std::filesystem::is_directory(path)) {
            binaries.push_back(path);
            continue;
        }
        if (run)
            throw UsageError("--kernel-log: one RUN at a time");
        run = open_run(path, options);
    }
    std::unique_ptr<model::SourceResolver> resolver;
    if (!run) {
        symbols::Options files;
        files.sysroot = options.sysroot;
        files.source_maps = options.source_maps;
        files.debuginfod = options.debuginfod;
        resolver = symbols::make_resolver(std::move(files));
    }
    kernel_log::Places places(run ? &run->run : nullptr, binaries, run ? *run->resolver : *resolver);
    const kernel_log::Study study = log == kJournal ? of_journal(run ? &run->run : nullptr, places) : kernel_log::study_log(log, places);
    TextStyle style;
    if (options.output.empty())
        style = detect_style(stream, [](const char* name) -> const char* { return std::getenv(name); });
    const std::string text = options.format == "json" ? kernel_log_json(study) : kernel_log_text(study, style);
    write_where_asked([&](std::FILE* file, const std::string& name) { write_all(text, file, name); }, options.output, stream);
}

} // namespace plumb
