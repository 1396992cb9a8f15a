// render-report KIND FORMAT [SOURCE_FILE]: writes the report of a synthetic run, or of a synthetic simulation,
// comparison or series of runs (repetition), to stdout.
// FORMAT: text (100 columns, UTF-8), ascii (80 columns), colour (120 columns), page (100 columns), json, html or sites (unaligned accesses).
#include "synthetic_comparison.h"
#include "synthetic_repetition.h"
#include "synthetic_run.h"
#include "synthetic_simulation.h"

#include "model/call_paths.h"
#include "reports/access_listing.h"
#include "analysis/build_report.h"
#include "reports/html/comparison.h"
#include "reports/html/repetition.h"
#include "reports/html/report.h"
#include "reports/html/simulation.h"
#include "reports/json/comparison.h"
#include "reports/json/report.h"
#include "reports/json/simulation.h"
#include "reports/text/comparison.h"
#include "reports/text/page.h"
#include "reports/text/repetition.h"
#include "reports/text/report.h"
#include "reports/text/simulation.h"
#include "support/error.h"

#include <cstdio>
#include <map>

namespace {

using Styles = std::map<std::string, plumb::TextStyle>;

std::string simulation_report(const std::string& kind, const std::string& format, const Styles& styles) {
    const plumb::simulate::Study study = plumb::synthetic::make_study(kind);
    if (styles.contains(format))
        return plumb::simulation_text(study, styles.at(format), 12.3);
    return format == "json" ? plumb::simulation_json(study) : plumb::simulation_html(study);
}

std::string comparison_report(const std::string& kind, const std::string& format, const Styles& styles) {
    const plumb::Comparison comparison = plumb::synthetic::make_comparison(kind);
    if (styles.contains(format))
        return plumb::comparison_text(comparison, styles.at(format));
    return format == "json" ? plumb::comparison_json(comparison) : plumb::comparison_html(comparison);
}

std::string repetition_report(const std::string& format, const Styles& styles) {
    const plumb::repeat::Repetition repetition = plumb::synthetic::make_repetition();
    return styles.contains(format) ? plumb::repetition_text(repetition, styles.at(format)) : plumb::repetition_html(repetition);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: render-report KIND text|ascii|colour|page|json|html|sites [SOURCE_FILE]\n", stderr);
        return 2;
    }
    const std::string kind = argv[1], format = argv[2];
    const std::string source_file = argc > 3 ? argv[3] : "/home/user/src/app.c";
    const Styles styles = {{"text", {100, false, true}}, {"ascii", {80, false, false}}, {"colour", {120, true, true}}};
    try {
        if (kind == "repetition") {
            const std::string text = repetition_report(format, styles);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        }
        if (plumb::synthetic::is_study(kind) || plumb::synthetic::is_comparison(kind)) {
            const std::string text = plumb::synthetic::is_study(kind) ? simulation_report(kind, format, styles)
                                                                      : comparison_report(kind, format, styles);
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        }
        const plumb::model::Run run = plumb::synthetic::make_run(kind);
        const auto resolver = plumb::synthetic::make_resolver(kind, source_file);
        plumb::model::CallPaths paths(run, *resolver);
        plumb::Report report = plumb::build_report(paths, plumb::synthetic::diagnoses_of(kind), {});
        report.metrics = {{"parallel efficiency", 0.503, "fraction", "CPU time / (wall time x CPUs used)"},
                          {"load balance", 0.981, "fraction", "mean / maximum CPU time of threads"},
                          {"allocated", 448'000'000, "bytes", "exact, all processes"}};
        report.may_show_source = [](const std::string&) { return true; };
        std::string text;
        if (styles.contains(format))
            text = plumb::text_report(report, styles.at(format));
        else if (format == "page")
            text = plumb::text_page(report, styles.at("text"));
        else if (format == "sites")
            text = plumb::access_listing(report);
        else
            text = format == "json" ? plumb::json_report(report) : plumb::html_report(report);
        std::fwrite(text.data(), 1, text.size(), stdout);
    } catch (const plumb::Error& error) {
        std::fprintf(stderr, "render-report: %s\n", error.what());
        return 1;
    }
    return 0;
}
