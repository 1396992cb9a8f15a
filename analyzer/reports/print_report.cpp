#include "reports/print_report.h"
#include "analysis/analyse_run.h"
#include "analysis/cycle_model.h"
#include "reports/access_listing.h"
#include "reports/complain.h"
#include "reports/html/report.h"
#include "reports/json/report.h"
#include "reports/output.h"
#include "reports/text/page.h"
#include "reports/text/report.h"
#include "reports/timeline/trace_events.h"
#include "support/error.h"

#include <cstdlib>
#include <fmt/format.h>

namespace plumb {

namespace {

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
    if (options.finding > 0)
        return finding_text(report, options.finding, style);
    return options.full || !options.only.empty() ? text_report(report, style) : text_page(report, style);
}

// The first process says what is wrong with it, and then works with nobody.
bool is_model_good(const ReportOptions& options) {
    if (options.model_file.empty())
        return true;
    try {
        CycleModel::read(options.model_file);
        return true;
    } catch (const Error&) {
        return false;
    }
}

} // namespace

void print_made_report(const Report& report, const ReportOptions& options, std::FILE* stream) {
    write_where_asked([&](std::FILE* file, const std::string& name) { write_all(rendered(report, options, file), file, name); },
                      options.output, stream);
}

void print_report(const std::string& run_directory, const ReportOptions& options, std::FILE* stream) {
    const bool is_timeline = options.format == "timeline" && !options.align_sites;
    if (options.process > 0) {
        if (!is_timeline && is_model_good(options)) // its ranks are read one after the other, by the first
            help_open_run(run_directory, options);
        return;
    }
    AnalysedRun analysed;
    WriteReport write;
    if (is_timeline) {
        analysed.opened = open_run_alone(run_directory, options);
        if (analysed.opened->redact)
            throw Error("a timeline cannot be redacted: it names each call's line by its path; --format json, html and text can");
        write = [&](std::FILE* file, const std::string&) {
            model::CallPaths paths = analysed.opened->paths();
            write_trace_events(paths, {.threads = options.threads}, file);
        };
    } else {
        AnalysisOptions analysis = options;
        analysis.call_tree = options.format == "html" && !options.align_sites;
        analysed = analyse_run(run_directory, analysis);
        if (!analysed.opened->why_alone.empty())
            complain(fmt::format("the {} processes of this job cannot share the work, the first one does it alone: {}",
                                 options.processes, analysed.opened->why_alone));
        write = [&](std::FILE* file, const std::string& name) {
            write_all(rendered(analysed.report, options, file), file, name);
        };
    }
    write_where_asked(write, options.output, stream);
}

} // namespace plumb
